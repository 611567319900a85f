import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { isObject, type Json, type JsonObject, type KubeObject } from "../../base/api/object.ts";
import type { ServedVersion } from "../../resources/model/definition.ts";
import { builtInKinds } from "./all.ts";
import { read, readObjects, readText } from "./cells.ts";

const golden = new URL("../../../test/golden/", import.meta.url);

interface Step {
  readonly id: string;
  readonly path?: string;
  readonly steps?: readonly Step[];
}

function readJson(path: string): JsonObject {
  return JSON.parse(readFileSync(new URL(path, golden), "utf8"));
}

function allSteps(steps: readonly Step[]): Step[] {
  return steps.flatMap((step) => [...allSteps(step.steps ?? []), step]);
}

const served = new Map<string, ServedVersion>();
for (const { group, plural, versions } of builtInKinds()) {
  for (const version of versions) {
    served.set(`${group === "" ? "/api" : `/apis/${group}`}/${version.name}/${plural}`, version);
  }
}

/** The collection of a path of a scenario. */
function collectionOf(path: string): string {
  const parts = path.replace(/\/namespaces\/[^/]+(?=\/[a-z])/, "").split("/");
  return parts.slice(0, parts[1] === "api" ? 4 : 5).join("/");
}

function isKubeObject(value: Json | undefined): value is KubeObject {
  return isObject(value) && isObject(value.metadata) && typeof value.metadata.name === "string";
}

interface RecordedTable {
  readonly name: string;
  readonly version: ServedVersion;
  readonly table: JsonObject;
  /** The last state of each object in earlier responses, by name. */
  readonly objects: ReadonlyMap<string, KubeObject>;
}

/** Every recorded Table of kube-apiserver for a built-in kind, with the objects it shows. */
function recordedTables(): RecordedTable[] {
  const tables: RecordedTable[] = [];
  for (const file of readdirSync(new URL("recorded/", golden))) {
    const answers = readJson(`recorded/${file}`).steps;
    const objects = new Map<string, Map<string, KubeObject>>();
    for (const { id, path = "" } of allSteps(readJson(`scenarios/${file}`).steps as unknown as Step[])) {
      const body = read(isObject(answers) ? answers[id] : undefined, ".body");
      const collection = collectionOf(path);
      const version = served.get(collection);
      if (version === undefined || !isObject(body)) continue;
      const known = objects.get(collection) ?? new Map<string, KubeObject>();
      objects.set(collection, known);
      const isScale = path.endsWith("/scale");
      if (body.kind === "Table" && !isScale) {
        tables.push({ name: `${file} ${id}`, version, table: body, objects: new Map(known) });
      } else if (isKubeObject(body) && body.kind !== "PartialObjectMetadata" && !isScale) {
        known.set(readText(body, ".metadata.name"), body);
      }
      for (const item of readObjects(body, ".items")) if (isKubeObject(item)) known.set(item.metadata.name ?? "", item);
    }
  }
  return tables;
}

const tables = recordedTables();

test("has the columns recorded from kube-apiserver", () => {
  assert.ok(tables.length > 100, `${tables.length} tables`);
  for (const { name, version, table } of tables) {
    const columns = version.table?.columns.map(({ name, type, format = "", priority = 0 }) => ({
      name,
      type,
      format,
      priority,
    }));
    const recorded = readObjects(table, ".columnDefinitions").map(({ description: _, ...rest }) => rest);
    assert.deepEqual(columns, recorded, name);
  }
});

/** Cells that depend on the time of the recording. */
const isSymbol = (cell: Json): boolean => typeof cell === "string" && /<(age|time|port)\b/.test(cell);

/** Tables of objects that the server changed after their last response. */
const OUTDATED = new Set(["workload-admission.json quota-table"]);

test("has the cells recorded from kube-apiserver", () => {
  let compared = 0;
  for (const { name, version, table, objects } of tables) {
    if (OUTDATED.has(name)) continue;
    const columns = version.table?.columns ?? [];
    const nameIndex = columns.findIndex((column) => column.name === "Name");
    for (const { cells } of readObjects(table, ".rows")) {
      if (!Array.isArray(cells)) continue;
      const object = objects.get(String(cells[nameIndex]));
      if (object === undefined) continue;
      compared++;
      const ours = columns.map((column, index) =>
        isSymbol(cells[index] ?? null) ? cells[index] : column.cell(object, 0),
      );
      assert.deepEqual(ours, cells, `${name} ${cells[nameIndex]}`);
    }
  }
  assert.ok(compared > 80, `${compared} rows`);
});
