package workflow

import (
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// startOf is where people see a node begin: a mapping begins with its first key.
func startOf(node ast.Node) Position {
	switch n := node.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return positionOf(n.Values[0].Key.GetToken())
		}
	case *ast.MappingValueNode:
		return positionOf(n.Key.GetToken())
	}
	return positionOf(node.GetToken())
}

// found names what stands where something else is needed, without its content.
func found(node ast.Node) string {
	names := map[ast.NodeType]string{
		ast.MappingType: "found a mapping", ast.MappingValueType: "found a mapping", ast.SequenceType: "found a list",
		ast.StringType: "found a text", ast.LiteralType: "found a text", ast.BoolType: "found true or false",
		ast.IntegerType: "found a number", ast.FloatType: "found a number", ast.InfinityType: "found a number",
		ast.NanType: "found a number", ast.NullType: "found nothing",
		ast.AnchorType: "and YAML anchors are not taken", ast.AliasType: "and YAML aliases are not taken",
		ast.TagType: "and YAML tags are not taken", ast.MergeKeyType: "and YAML merge keys are not taken",
	}
	if name, ok := names[node.Type()]; ok {
		return name
	}
	return "found " + strings.ToLower(node.Type().String())
}
