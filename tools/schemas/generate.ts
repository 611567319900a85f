/**
 * Projects the published OpenAPI documents, Go struct tags and .proto files of Kubernetes into `schemas/`.
 *   node tools/schemas/generate.ts           writes the files
 *   node tools/schemas/generate.ts --check   compares them with what would be written; exit code 1 when they differ
 * Needs `go` to fetch the sources through the Go module proxy.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { EXTRA_COMPONENTS, type PackageFacts, readPackage, schemaFromProto } from "./packages.ts";
import { type CompactComponent, type EnumFacts, projectComponent, splitName } from "./project.ts";
import { publishedComponents, RELEASES } from "./sources.ts";

const output = new URL("../../schemas/", import.meta.url);
const enumsFile = new URL("enums.json", import.meta.url);

/** The file that holds a component: the last two parts of its package. */
function fileOf(componentPackage: string): string {
  return `${componentPackage.split(".").slice(-2).join("_")}.json`;
}

function projectAll(): Map<string, Map<string, CompactComponent>> {
  const enums = JSON.parse(readFileSync(enumsFile, "utf8")) as Record<string, Record<string, EnumFacts>>;
  const packages = new Map<string, Map<string, CompactComponent>>();
  for (const release of RELEASES) {
    const published = publishedComponents(release);
    const facts = new Map<string, PackageFacts>();
    const factsOf = (name: string): PackageFacts => {
      const known = facts.get(name) ?? readPackage(name, release);
      facts.set(name, known);
      return known;
    };
    if (release.documents === undefined) {
      for (const component of EXTRA_COMPONENTS) {
        if (!published.has(component)) published.set(component, schemaFromProto(component, factsOf));
      }
    }
    for (const [component, schema] of published) {
      const [componentPackage, name] = splitName(component);
      const components = packages.get(componentPackage) ?? new Map<string, CompactComponent>();
      packages.set(componentPackage, components);
      if (components.has(name)) continue;
      const fields = factsOf(componentPackage).fieldsOf(name, schema, factsOf);
      components.set(name, projectComponent(component, schema, fields, enums[component] ?? {}));
    }
  }
  return packages;
}

function print(componentPackage: string, components: ReadonlyMap<string, CompactComponent>): string {
  const names = [...components.keys()].sort();
  const lines = names.map((name) => `${JSON.stringify(name)}:${JSON.stringify(components.get(name))}`);
  return `{"package":${JSON.stringify(componentPackage)},"components":{\n${lines.join(",\n")}\n}}\n`;
}

const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
const files = new Map<string, string>();
for (const [componentPackage, components] of projectAll()) {
  const file = fileOf(componentPackage);
  if (files.has(file)) throw new Error(`two packages want ${file}`);
  files.set(file, print(componentPackage, components));
}
mkdirSync(output, { recursive: true });
const present = readdirSync(output).filter((file) => file.endsWith(".json"));
if (values.check) {
  const differing = [...new Set([...files.keys(), ...present])].filter(
    (file) => !present.includes(file) || readFileSync(new URL(file, output), "utf8") !== files.get(file),
  );
  process.stdout.write(differing.length === 0 ? "schemas are current\n" : `schemas differ: ${differing.join(", ")}\n`);
  process.exitCode = differing.length === 0 ? 0 : 1;
} else {
  for (const file of present) if (!files.has(file)) rmSync(new URL(file, output));
  for (const [file, text] of files) writeFileSync(new URL(file, output), text);
}
