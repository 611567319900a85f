import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { descriptionLibrary, findDescription, parseDescriptions } from "./descriptions.ts";

/** Schema files in which shapes or fields have no text yet. */
const UNDESCRIBED: readonly string[] = [
  "admissionregistration_v1",
  "admissionregistration_v1alpha1",
  "admissionregistration_v1beta1",
  "apidiscovery_v2",
  "apiextensions_v1",
  "apiregistration_v1",
  "apiserverinternal_v1alpha1",
  "apps_v1",
  "authentication_v1",
  "authorization_v1",
  "autoscaling_v1",
  "autoscaling_v2",
  "batch_v1",
  "certificates_v1",
  "certificates_v1alpha1",
  "certificates_v1beta1",
  "coordination_v1",
  "coordination_v1alpha2",
  "coordination_v1beta1",
  "core_v1",
  "discovery_v1",
  "events_v1",
  "flowcontrol_v1",
  "lifecycle_v1alpha1",
  "networking_v1",
  "networking_v1beta1",
  "node_v1",
  "policy_v1",
  "rbac_v1",
  "resource_v1",
  "resource_v1alpha3",
  "resource_v1beta1",
  "resource_v1beta2",
  "scheduling_v1",
  "scheduling_v1alpha1",
  "scheduling_v1alpha2",
  "scheduling_v1alpha3",
  "scheduling_v1beta1",
  "storage_v1",
  "storage_v1beta1",
  "storagemigration_v1",
  "storagemigration_v1beta1",
];
/** How many fields have a text at least, beside those that every kind has. */
const FIELDS = 610;

interface Shape {
  readonly component: string;
  readonly fields: readonly string[];
}

const read = (folder: string, name: string) =>
  readFileSync(new URL(`../../${folder}/${name}`, import.meta.url), "utf8");
const names = (folder: string) => readdirSync(new URL(`../../${folder}/`, import.meta.url));

/** The shapes of each schema file, without the members that every kind and every list has. */
const shapes = new Map<string, readonly Shape[]>(
  names("schemas").map((file) => {
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

suite("the files of descriptions", () => {
  test("every described shape and field is in the schemas", () => {
    const everything = [...shapes.values()].flat();
    const stale: string[] = [];
    for (const file of names("descriptions")) {
      const base = file.replace(".txt", "");
      const among = base === "common" ? everything : (shapes.get(base) ?? []);
      const known = new Set<string>(["*"]);
      const components = base === "common" ? {} : JSON.parse(read("schemas", `${base}.json`)).components;
      for (const [name, { fields = {} }] of Object.entries<{ fields?: object }>(components)) {
        known.add(name);
        for (const field of Object.keys(fields)) known.add(`${name}.${field}`);
      }
      const texts = parseDescriptions(read("descriptions", file));
      for (const one of among) {
        for (const field of one.fields) if (!texts.has(`${nameOf(one)}.${field}`)) known.add(`*.${field}`);
      }
      for (const name of texts.keys()) if (!known.has(name)) stale.push(`${file}: ${name}`);
    }
    assert.deepEqual(stale, []);
  });

  test("a text is one line that ends like a sentence", () => {
    for (const file of names("descriptions")) {
      for (const [name, text] of parseDescriptions(read("descriptions", file))) {
        assert.match(text, /^\S.*[.)…]$/, `${file}: ${name}`);
      }
    }
  });

  test("files described wholly have a text for every shape and field", () => {
    const missing: string[] = [];
    let described = 0;
    for (const [file, all] of shapes) {
      for (const { component, fields } of all) {
        const isList = component.endsWith("List") && fields.length === 0;
        const isPartial = UNDESCRIBED.includes(file);
        if (!isList && !isPartial && findDescription(component) === undefined) missing.push(component);
        for (const field of fields) {
          if (findDescription(component, field) !== undefined) described++;
          else if (!isPartial) missing.push(`${component}: ${field}`);
        }
      }
    }
    assert.deepEqual(missing, []);
    assert.ok(described >= FIELDS, `${described} fields are described`);
  });

  test("files that are said to lack texts do lack some", () => {
    const whole = UNDESCRIBED.filter((file) =>
      (shapes.get(file) ?? []).every(({ component, fields }) =>
        fields.every((field) => findDescription(component, field) !== undefined),
      ),
    );
    assert.deepEqual(whole, []);
  });
});

test("texts are found by shape and field, then in v1 of the group, then among those of any shape", () => {
  const files = new Map([
    ["wood_v1", "Tree A plant.\n height In metres.\nLeaf\n colour Green.\n*\n age In years.\n"],
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
  assert.equal(find("io.k8s.api.wood.v1beta1.Leaf", "age"), "In years.");
  assert.equal(find("io.k8s.api.wood.v1beta1.Leaf", "weight"), "In kilograms.");
  assert.equal(find("io.k8s.api.wood.v1beta1.Leaf", "constructor"), undefined);
  assert.equal(find("io.k8s.api.stone.v1.Flint"), undefined);
  assert.deepEqual(asked, ["wood_v1", "wood_v1beta1", "common", "stone_v1"]);
});
