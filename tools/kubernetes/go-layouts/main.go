// Writes the layout of v1.PodTemplateSpec and of all structs inside it, as Go prints them:
//
//	cd tools/kubernetes && go run ./go-layouts > ../../schemas/go-layouts/pod-template.json
//
// src/cluster/controllers/shared/hashes/go-layout.ts explains the rows.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

var structs = map[string][]string{}
var named = map[string]string{}
var typesByName = map[string]reflect.Type{}

// Structs with a JSON form of their own. go-values.ts builds their Go fields from that form.
var forms = []string{"intstr.IntOrString", "resource.Quantity", "v1.FieldsV1", "v1.Time"}

var marshaler = reflect.TypeFor[json.Marshaler]()

func main() {
	add(reflect.TypeFor[corev1.PodTemplateSpec]())
	fmt.Printf("{\"structs\":{\n%s\n},\"types\":{\n%s\n}}\n", lines(structs), lines(named))
}

func lines[V any](rows map[string]V) string {
	var out []string
	for name, row := range rows {
		text, err := json.Marshal(row)
		if err != nil {
			log.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%q:%s", name, text))
	}
	slices.Sort(out)
	return strings.Join(out, ",\n")
}

// Adds a type and all types that it consists of.
func add(t reflect.Type) {
	if t.Name() != "" {
		if known, isKnown := typesByName[t.String()]; isKnown {
			if known != t {
				log.Fatalf("two types are called %s", t)
			}
			return
		}
		typesByName[t.String()] = t
	}
	switch t.Kind() {
	case reflect.Struct:
		addStruct(t)
		return
	case reflect.Pointer, reflect.Slice:
		rejectPointer(t.Elem())
		add(t.Elem())
	case reflect.Map:
		rejectPointer(t.Elem())
		add(t.Key())
		add(t.Elem())
	case reflect.Bool, reflect.String, reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint64:
	default:
		log.Fatalf("%s has a kind that the server does not print", t)
	}
	if t.PkgPath() != "" {
		named[t.String()] = underlying(t)
	}
}

// The server prints pointers only as fields, where their type stands before them.
func rejectPointer(t reflect.Type) {
	if t.Kind() == reflect.Pointer {
		log.Fatalf("%s is inside a pointer, slice or map", t)
	}
}

func underlying(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		return "[]" + t.Elem().String()
	case reflect.Map:
		return "map[" + t.Key().String() + "]" + t.Elem().String()
	}
	return t.Kind().String()
}

func addStruct(t reflect.Type) {
	// All pointers to a struct of size zero are equal, so that spew prints them as a cycle.
	if t.NumField() == 0 {
		log.Fatalf("%s has no fields", t)
	}
	var rows []string
	for i := range t.NumField() {
		field := t.Field(i)
		rows = append(rows, field.Name+" "+jsonName(field)+" "+field.Type.String())
		add(field.Type)
	}
	structs[t.String()] = rows
}

func jsonName(field reflect.StructField) string {
	tag, isTagged := field.Tag.Lookup("json")
	if isTagged {
		rejectUnknownForm(field.Type)
	}
	name, _, _ := strings.Cut(tag, ",")
	switch {
	case field.Anonymous && isTagged && name == "":
		return "@"
	case name == "" || name == "-":
		return field.Name
	}
	return name
}

func rejectUnknownForm(t reflect.Type) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(marshaler) && !slices.Contains(forms, t.String()) {
		log.Fatalf("%s has a JSON form that the server does not know", t)
	}
}
