import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Json } from "../../../base/api/object.ts";
import { UNLIMITED } from "../../../base/util/meter.ts";
import { compileTemplate } from "./go-template/evaluate.ts";
import { templateFunctions } from "./go-template/functions.ts";
import { compileJq } from "./jq.ts";

const pod: Json = {
  metadata: { name: "web", annotations: { "example.com/delay": "5s" } },
  spec: { containers: [{ name: "a" }, { name: "b" }] },
  status: {
    conditions: [
      { type: "Ready", status: "True" },
      { type: "Other", status: "False" },
    ],
  },
};

suite("jq expressions of Stages", () => {
  for (const [source, expected] of [
    [".metadata.name", ["web"]],
    ['.metadata.annotations["example.com/delay"]', ["5s"]],
    ['.metadata.annotations["none"] // "default"', ["default"]],
    ['.status.conditions.[] | select( .type == "Ready" ) | .status', ["True"]],
    ['.status.conditions[] | select(.type != "Ready" and .status == "False").type', ["Other"]],
    [".spec.containers.[].name", ["a", "b"]],
    [".spec.containers | length", [2]],
    [".spec.containers[-1].name, .metadata.none", ["b", null]],
    ['.spec | has("containers") | not', [false]],
    [".metadata.name[0]?", []],
  ] as const) {
    test(source, () => assert.deepEqual(compileJq(source)(pod, UNLIMITED), expected));
  }

  test("fail where jq fails, and are rejected if they are not supported", () => {
    assert.throws(() => compileJq(".metadata.name[]")(pod, UNLIMITED), /cannot iterate over string/);
    assert.throws(() => compileJq("reduce .[] as $x (0; . + $x)"), /is not supported at/);
  });
});

suite("templates of Stages", () => {
  const isKnown = (name: string) => Object.hasOwn(templateFunctions, name);
  const print = (text: string) => compileTemplate(text, isKnown)(pod, templateFunctions, UNLIMITED);

  for (const [text, expected] of [
    ["{{ .metadata.name }}: {{ .metadata.none }}", "web: <no value>"],
    ["{{ range $i, $c := .spec.containers }}{{ $i }}={{ $c.name }} {{ end }}", "0=a 1=b "],
    ["{{ range .none }}x{{ else }}nothing{{ end }}", "nothing"],
    ["a  {{- /* comment */ -}}  b {{- 1 -}} c", "ab1c"],
    ['{{ $x := "one" }}{{ if true }}{{ $x = "two" }}{{ end }}{{ $x }}', "two"],
    ['{{ $x := print (print "a" (len .spec)) }}{{ $x }}', "a1"],
    ["{{ with .metadata }}{{ .name }} {{ $.metadata.name }}{{ end }}", "web web"],
    ['{{ if eq .metadata.name "db" }}1{{ else if eq .metadata.name "web" }}2{{ else }}3{{ end }}', "2"],
    ['{{ (index .spec.containers 1).name | printf "%s-%q" "x" }}', 'x-"b"'],
    ['{{ or .none.some "" | quote }} {{ and true .metadata.name }}', '"" web'],
    ["{{ index (or .metadata.labels dict) `a}}b` }}", "<no value>"],
  ] as const) {
    test(text, () => assert.equal(print(text), expected));
  }

  test("are rejected if they call unknown functions or are not complete", () => {
    assert.throws(() => print("{{ range .a }}{{ sprigNews . }}{{ end }}"), /function sprigNews is not supported/);
    assert.throws(() => print("{{ if .a }}"), /without \{\{ end \}\}/);
    assert.throws(() => print("{{ .a"), /unclosed action/);
  });
});
