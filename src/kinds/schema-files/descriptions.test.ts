import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { descriptionLibrary, findDescription, parseDescriptions } from "./descriptions.ts";

interface Shape {
  readonly component: string;
  readonly fields: readonly string[];
}

const read = (folder: string, name: string) =>
  readFileSync(new URL(`../../../${folder}/${name}`, import.meta.url), "utf8");
const names = (folder: string) => readdirSync(new URL(`../../../${folder}/`, import.meta.url));
const schemaFiles = names("schemas").filter((name) => name.endsWith(".json"));

/** The types of each schema file, without the fields that every kind and every list has. */
const shapes = new Map<string, readonly Shape[]>(
  schemaFiles.map((file) => {
    const { package: componentPackage, components } = JSON.parse(read("schemas", file));
    const all = Object.entries<{ kinds?: unknown; fields?: object; items?: unknown }>(components).map(
      ([name, { kinds, fields = {} }]): Shape => {
        const common = kinds === undefined ? [] : ["kind", "apiVersion", "metadata"];
        const isList = kinds !== undefined && name.endsWith("List") && "items" in fields;
        const own = Object.keys(fields).filter((field) => !common.includes(field));
        return { component: `${componentPackage}.${name}`, fields: isList ? [] : own };
      },
    );
    return [file.replace(".json", ""), all];
  }),
);

const nameOf = ({ component }: Shape): string => component.slice(component.lastIndexOf(".") + 1);

/** The file of v1 applies to all versions of its group. */
function isAbout(file: string, schema: string): boolean {
  return file === "common" || file === schema || (file.endsWith("_v1") && schema.startsWith(file.slice(0, -1)));
}

suite("the files of descriptions", () => {
  test("describe only types and fields of the schemas", () => {
    const stale: string[] = [];
    for (const file of names("descriptions")) {
      const base = file.replace(".txt", "");
      const described = schemaFiles.filter((schema) => isAbout(base, schema.replace(".json", "")));
      const among = described.flatMap((schema) => shapes.get(schema.replace(".json", "")) ?? []);
      const known = new Set<string>(["*"]);
      for (const schema of base === "common" ? [] : described) {
        const components = JSON.parse(read("schemas", schema)).components;
        for (const [name, { fields = {} }] of Object.entries<{ fields?: object }>(components)) {
          known.add(name);
          for (const field of Object.keys(fields)) known.add(`${name}.${field}`);
        }
      }
      const { texts, likes } = parseDescriptions(read("descriptions", file));
      for (const name of [...likes].flat()) if (!known.has(name)) stale.push(`${file}: ${name}`);
      for (const one of among) {
        for (const field of one.fields) if (!texts.has(`${nameOf(one)}.${field}`)) known.add(`*.${field}`);
      }
      for (const name of texts.keys()) if (!known.has(name)) stale.push(`${file}: ${name}`);
    }
    assert.deepEqual(stale, []);
  });

  test("have one-line texts that end like a sentence", () => {
    for (const file of names("descriptions")) {
      for (const [name, text] of parseDescriptions(read("descriptions", file)).texts) {
        assert.match(text, /^\S.*[.)…]$/, `${file}: ${name}`);
      }
    }
  });

  test("describe every type and field of the schemas", () => {
    const missing: string[] = [];
    for (const { component, fields } of [...shapes.values()].flat()) {
      const isList = component.endsWith("List") && fields.length === 0;
      if (!isList && findDescription(component) === undefined) missing.push(component);
      for (const field of fields) {
        if (findDescription(component, field) === undefined) missing.push(`${component}: ${field}`);
      }
    }
    assert.deepEqual(missing, []);
  });
});

test("texts are found by type and field, then in v1 of the group, then at the inherited type, then among those of any type", () => {
  const files = new Map([
    [
      "wood_v1",
      "Tree A plant.\n height In metres.\nLeaf\n colour Green.\nNeedle (Leaf) A thin leaf.\n*\n age In years.\n",
    ],
    ["wood_v1beta1", "Tree\n height In feet.\n"],
    ["common", "*\n weight In kilograms.\n age Unknown.\n"],
  ]);
  const asked: string[] = [];
  const find = descriptionLibrary((name) => {
    asked.push(name);
    return files.get(name);
  });
  assert.equal(find("io.k8s.api.wood.v1.Tree"), "A plant.");
  assert.equal(find("io.k8s.api.wood.v1.Leaf"), undefined);
  assert.equal(find("io.k8s.api.wood.v1.Leaf", "colour"), "Green.");
  assert.deepEqual(asked, ["wood_v1"]);
  assert.equal(find("io.k8s.api.wood.v1beta1.Tree"), "A plant.");
  assert.equal(find("io.k8s.api.wood.v1beta1.Tree", "height"), "In feet.");
  assert.equal(find("io.k8s.api.wood.v1beta1.Leaf", "colour"), "Green.");
  assert.equal(find("io.k8s.api.wood.v1beta1.Needle"), "A thin leaf.");
  assert.equal(find("io.k8s.api.wood.v1beta1.Needle", "colour"), "Green.");
  assert.equal(find("io.k8s.api.wood.v1beta1.Needle", "age"), "In years.");
  assert.equal(find("io.k8s.api.wood.v1beta1.Leaf", "age"), "In years.");
  assert.equal(find("io.k8s.api.wood.v1beta1.Leaf", "weight"), "In kilograms.");
  assert.equal(find("io.k8s.api.wood.v1beta1.Leaf", "constructor"), undefined);
  assert.equal(find("io.k8s.api.stone.v1.Flint"), undefined);
  assert.deepEqual(asked, ["wood_v1", "wood_v1beta1", "common", "stone_v1"]);
});
