// Writes how kube-apiserver prints the structures behind pods and claims in messages. FILE is internal-forms.json in src/kinds:
//
//	cd tools/kubernetes && go run ./internal-forms > FILE && npx biome check --write FILE
//
// internal-form.ts beside that file explains the rows.
package main

import (
	"encoding/json"
	"log"
	"os"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/apis/core"
)

var forms = map[string][]string{}

// Structures that print themselves.
var plain = map[string]string{
	"resource.Quantity":  `"0"`,
	"intstr.IntOrString": "0",
	"v1.Time":            "null",
	"v1.LabelSelector":   "null",
}

func main() {
	add(reflect.TypeFor[core.PodTemplateSpec](), reflect.TypeFor[corev1.PodTemplateSpec]())
	add(reflect.TypeFor[core.PersistentVolumeClaim](), reflect.TypeFor[corev1.PersistentVolumeClaim]())
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(forms); err != nil {
		log.Fatal(err)
	}
}

// Adds a structure and all that it consists of; published is its counterpart with JSON names.
func add(internal, published reflect.Type) string {
	name := internal.Name()
	if _, known := forms[name]; known {
		return name
	}
	forms[name] = nil
	for i := range internal.NumField() {
		if row := rowOf(internal.Field(i), published); row != "" {
			forms[name] = append(forms[name], row)
		}
	}
	return name
}

func rowOf(field reflect.StructField, published reflect.Type) string {
	if field.Anonymous {
		switch field.Type.String() {
		case "v1.TypeMeta":
			return ""
		case "v1.ObjectMeta":
			return "@metadata"
		}
		return "@" + add(field.Type, published)
	}
	counterpart, found := published.FieldByName(field.Name)
	if !found {
		log.Fatalf("%s has no field %s", published, field.Name)
	}
	jsonName, _, _ := strings.Cut(counterpart.Tag.Get("json"), ",")
	row := field.Name + " " + jsonName + " " + zero(field.Type)
	inner := element(field.Type)
	switch {
	case inner.String() == "v1.LabelSelector":
		return row + " +selector"
	case inner.Kind() == reflect.Map:
		return row + " +map"
	case inner.Kind() == reflect.Struct && plain[inner.String()] == "":
		return row + " " + add(inner, element(counterpart.Type))
	}
	return row
}

func element(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t
}

// What stands for an absent value.
func zero(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return "null"
	case reflect.String:
		return `""`
	case reflect.Bool:
		return "false"
	case reflect.Struct:
		if text := plain[t.String()]; text != "" {
			return text
		}
		return "{}"
	}
	return "0"
}
