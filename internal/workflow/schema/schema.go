// Package schema writes down what a workflow file may hold, for people and for
// their editors: a JSON schema and the tables of every field. Both come from the
// descriptors, rules and comments of the schema in proto/, so that they cannot
// go stale. It decides nothing about files: package workflow does, and is
// stricter where JSON schema has no words for a rule.
package schema

import (
	"bytes"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// ID is the name of the JSON schema, and where it can be read.
const ID = "https://raw.githubusercontent.com/reprise-rpa/reprise/main/docs/workflow.schema.json"

// node is a JSON schema of draft 7, which editors understand best.
type node struct {
	Schema               string           `json:"$schema,omitempty"`
	ID                   string           `json:"$id,omitempty"`
	Ref                  string           `json:"$ref,omitempty"`
	Title                string           `json:"title,omitempty"`
	Description          string           `json:"description,omitempty"`
	Type                 string           `json:"type,omitempty"`
	Enum                 []string         `json:"enum,omitempty"`
	EnumDescriptions     []string         `json:"enumDescriptions,omitempty"` // shown by editors, ignored by validators
	Pattern              string           `json:"pattern,omitempty"`
	MinLength            *uint64          `json:"minLength,omitempty"`
	MaxLength            *uint64          `json:"maxLength,omitempty"`
	Minimum              *float64         `json:"minimum,omitempty"`
	Maximum              *float64         `json:"maximum,omitempty"`
	ExclusiveMinimum     *float64         `json:"exclusiveMinimum,omitempty"`
	MinItems             *uint64          `json:"minItems,omitempty"`
	MaxItems             *uint64          `json:"maxItems,omitempty"`
	UniqueItems          bool             `json:"uniqueItems,omitempty"`
	MaxProperties        *uint64          `json:"maxProperties,omitempty"`
	Items                *node            `json:"items,omitempty"`
	PropertyNames        *node            `json:"propertyNames,omitempty"`
	AdditionalProperties any              `json:"additionalProperties,omitempty"`
	Properties           map[string]*node `json:"properties,omitempty"`
	PatternProperties    map[string]*node `json:"patternProperties,omitempty"`
	Required             []string         `json:"required,omitempty"`
	Dependencies         map[string]*node `json:"dependencies,omitempty"`
	AllOf                []*node          `json:"allOf,omitempty"`
	AnyOf                []*node          `json:"anyOf,omitempty"`
	OneOf                []*node          `json:"oneOf,omitempty"`
	Definitions          map[string]*node `json:"definitions,omitempty"`
}

func workflow() protoreflect.MessageDescriptor {
	return (&reprisev1.Workflow{}).ProtoReflect().Descriptor()
}

// JSON writes the JSON schema of workflow files. Source is the generated Go
// file of action.proto, which has its comments.
func JSON(source []byte) ([]byte, error) {
	told, err := read(source)
	if err != nil {
		return nil, err
	}
	w := writer{told: told, definitions: map[string]*node{}}
	root, err := w.message(workflow())
	if err != nil {
		return nil, err
	}
	root.Schema, root.ID, root.Title = "http://json-schema.org/draft-07/schema#", ID, "A workflow file of reprise"
	root.Definitions = w.definitions
	// The schema has no least number: a replay that is left open begins with none.
	root.Properties["actions"].MinItems = new(uint64(1))
	root.Required = append(root.Required, "actions")
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(root); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return out.Bytes(), nil
}

// writer turns messages into definitions, each once.
type writer struct {
	told        comments
	definitions map[string]*node
}

// ref names a message's definition, which it writes if it is not there yet.
func (w *writer) ref(desc protoreflect.MessageDescriptor) (*node, error) {
	name := string(desc.Name())
	if _, written := w.definitions[name]; !written {
		w.definitions[name] = nil // a message may hold itself
		n, err := w.message(desc)
		if err != nil {
			return nil, err
		}
		w.definitions[name] = n
	}
	return &node{Ref: "#/definitions/" + name}, nil
}

func (w *writer) message(desc protoreflect.MessageDescriptor) (*node, error) {
	needs, err := needsOf(desc)
	if err != nil {
		return nil, err
	}
	n := &node{
		Type: "object", Description: w.told[string(desc.Name())], AdditionalProperties: false,
		Properties: map[string]*node{}, PatternProperties: map[string]*node{}, Dependencies: map[string]*node{},
	}
	for i := range desc.Fields().Len() {
		field := desc.Fields().Get(i)
		value, err := w.field(field)
		if err != nil {
			return nil, err
		}
		n.Properties[field.JSONName()] = value
		if field.TextName() != field.JSONName() {
			// Taken as well, and not offered by an editor.
			n.PatternProperties["^"+field.TextName()+"$"] = value
		}
		if needs.fields[field.Number()] {
			n.Required = append(n.Required, field.JSONName())
		}
		if needs := besideKind(field); needs != nil {
			n.Dependencies[field.JSONName()] = needs
			n.Dependencies[field.TextName()] = needs
		}
	}
	for _, choices := range needs.oneOf {
		n.AllOf = append(n.AllOf, &node{OneOf: given(choices)})
	}
	if len(needs.anyOf) > 0 {
		n.AllOf = append(n.AllOf, &node{AnyOf: given(needs.anyOf)})
	}
	return n, nil
}

// given lists the ways in which one of the fields may be given.
func given(fields []protoreflect.FieldDescriptor) []*node {
	var ways []*node
	for _, f := range fields {
		ways = append(ways, &node{Required: []string{f.JSONName()}})
		if f.TextName() != f.JSONName() {
			ways = append(ways, &node{Required: []string{f.TextName()}})
		}
	}
	return ways
}
