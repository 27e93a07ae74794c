package schema

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strconv"
	"strings"
)

// comments are the schema's comments: of a message by its name, of a field by
// `Message.field_name`, of an enum's value by its name; each on one line.
type comments map[string]string

// read collects the comments from generated Go, since descriptors that are
// compiled in have none.
func read(source []byte) (comments, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "action.pb.go", source, parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	all := comments{}
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range group.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if fields, ok := s.Type.(*ast.StructType); ok {
					all[s.Name.Name] = oneLine(group.Doc)
					all.fields(s.Name.Name, fields)
				}
			case *ast.ValueSpec:
				if _, value, ok := strings.Cut(s.Names[0].Name, "_"); ok {
					all[value] = oneLine(s.Doc)
				}
			}
		}
	}
	return all, nil
}

// fields adds the comments of a message's fields. A choice of a oneof lies in a
// type of its own, `Message_Choice`.
func (c comments) fields(goType string, fields *ast.StructType) {
	message, _, _ := strings.Cut(goType, "_")
	for _, f := range fields.Fields.List {
		if f.Tag == nil {
			continue
		}
		tag, err := strconv.Unquote(f.Tag.Value)
		if err != nil {
			continue // not by the generator
		}
		for part := range strings.SplitSeq(reflect.StructTag(tag).Get("protobuf"), ",") {
			if name, ok := strings.CutPrefix(part, "name="); ok {
				c[message+"."+name] = oneLine(f.Doc)
			}
		}
	}
}

// oneLine joins the lines of a comment; its paragraphs become sentences in a row.
func oneLine(doc *ast.CommentGroup) string {
	if doc == nil {
		return ""
	}
	return strings.Join(strings.Fields(doc.Text()), " ")
}
