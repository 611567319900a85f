import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { fc } from "../../../test/support/random.ts";
import type { KubeObject } from "../../base/api/object.ts";
import { ManualClock } from "../../base/util/environment.suite.ts";
import { MemoryStore } from "../../storage/memory.ts";
import type { ResourceContext } from "../context.ts";
import { serve } from "../model/catalog.ts";
import type { ResourceDefinition, ServedVersion } from "../model/definition.ts";
import { KeySpace } from "../model/keys.ts";
import { ObjectCodec } from "../model/object-codec.ts";
import { watchObjects } from "./object-watch.ts";
import { readSelectable } from "./selectable.ts";
import { parseSelection, type Selection } from "./selection.ts";
import { thing, thingVersion } from "./thing.suite.ts";
import { ViewCache } from "./view-cache.ts";

const version: ServedVersion = {
  ...thingVersion,
  selectableFields: ["place", "phase"].map((name) => ({
    name: `spec.${name}`,
    value: (object: KubeObject) => (object.spec as Record<string, string> | undefined)?.[name] ?? "",
  })),
};
const placed: ResourceDefinition = { ...thing, versions: [version] };
const codec = new ObjectCodec();
const keys = new KeySpace("/registry");

const values = fc.constantFrom("a", "b", "");
/** Objects without spec, with missing fields and with labels that are named like fields. */
const contents = fc.record(
  {
    labels: fc.dictionary(fc.constantFrom("app", "tier", "spec.place"), values, { maxKeys: 2 }),
    spec: fc.record({ place: values, phase: values }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
);
const writes = fc.record({
  namespace: fc.constantFrom("one", "two"),
  name: fc.constantFrom("x", "x1", "y"),
  /** Undefined: the object is deleted. */
  contents: fc.option(contents, { nil: undefined, freq: 4 }),
});
const watches = fc.record({
  namespace: fc.constantFrom("", "", "one", "two"),
  labelSelector: fc.constantFrom(
    "",
    "app=a",
    "app=",
    "app==b,tier=a",
    "app in (a)",
    "app in (a,b)",
    "app notin (a)",
    "app!=a",
    "!app",
    "tier,app=a",
    "spec.place=a",
  ),
  fieldSelector: fc.constantFrom(
    "",
    "spec.place=a",
    "spec.place=",
    "spec.place!=a",
    "spec.place=a,spec.phase=b",
    "spec.place=a,spec.place=b",
    "metadata.name=x",
    "metadata.namespace=one",
    "metadata.namespace=,metadata.name=y",
    "metadata.name!=x,spec.phase=a",
  ),
  /** How many revisions before the newest one the watch starts. */
  back: fc.nat(6),
  /** A slow reader reads after all writes. */
  isSlow: fc.boolean(),
});

interface Change {
  readonly revision: number;
  readonly before: KubeObject | undefined;
  readonly after: KubeObject | undefined;
}

/** The events of a selection, found by matching every change. */
function scan(changes: readonly Change[], selection: Selection, from: number): string[] {
  const resource = serve(placed, version);
  const isSelected = (object: KubeObject | undefined) =>
    object !== undefined &&
    (selection.namespace === "" || object.metadata.namespace === selection.namespace) &&
    selection.matches(readSelectable(resource, object));
  return changes.flatMap(({ revision, before, after }) => {
    if (revision <= from || !(isSelected(before) || isSelected(after))) return [];
    const type = !isSelected(after) ? "DELETED" : isSelected(before) ? "MODIFIED" : "ADDED";
    const { metadata, ...shown } = (isSelected(after) ? after : before) as KubeObject;
    return [print(type, { ...shown, metadata: { ...metadata, resourceVersion: String(revision) } })];
  });
}

function print(type: string, { kind, apiVersion, metadata, ...rest }: KubeObject): string {
  return `${type} ${JSON.stringify({ kind, apiVersion, metadata, ...rest })}`;
}

type Step = { readonly write: typeof writes extends fc.Arbitrary<infer T> ? T : never } | { readonly watch: WatchStep };
type WatchStep = typeof watches extends fc.Arbitrary<infer T> ? T : never;

async function run(steps: readonly Step[]): Promise<void> {
  const store = new MemoryStore();
  const context = { store, clock: new ManualClock(0), keys, views: new ViewCache(codec) } as unknown as ResourceContext;
  const resource = serve(placed, version);
  const stop = new AbortController();
  const changes: Change[] = [];
  const objects = new Map<string, KubeObject>();
  const watchers: { readonly expected: () => string[]; readonly seen: string[]; readonly start: () => void }[] = [];
  const put = async (key: string, object: KubeObject | undefined) => {
    const before = objects.get(key);
    const expected = (await store.get(key))?.modRevision ?? 0;
    const written = object ? await store.put(key, codec.write(object), expected) : await store.delete(key, expected);
    if (!written.ok) return;
    if (object) objects.set(key, object);
    else objects.delete(key);
    changes.push({ revision: written.revision, before, after: object });
  };
  const open = async ({ back, isSlow, ...request }: WatchStep) => {
    const selection = parseSelection(resource, { ...request, shardSelector: "" });
    const from = Math.max(1, (await store.revision()) - back);
    const rest = { resourceVersion: from, sendInitialEvents: false, allowBookmarks: false, deadlineMs: Infinity };
    const events = watchObjects(context, resource, { selection, ...rest }, stop.signal);
    const seen: string[] = [];
    const read = async () => {
      for await (const batch of events) {
        for (const event of batch) {
          seen.push(event.type === "ERROR" ? "ERROR" : print(event.type, event.view.object));
        }
      }
    };
    const start = () => void read();
    if (!isSlow) start();
    watchers.push({ expected: () => scan(changes, selection, from), seen, start: isSlow ? start : () => {} });
  };
  for (const step of steps) {
    if ("watch" in step) await open(step.watch);
    else {
      const { namespace, name, contents: given } = step.write;
      const { labels, ...rest } = given ?? {};
      const metadata = { name, namespace, ...(labels && { labels }) };
      await put(keys.key(placed, { namespace, name }), given && { kind: "Thing", apiVersion: "v1", metadata, ...rest });
    }
    // Readers see some writes one by one and some together.
    if (changes.length % 3 === 0) await nextTurn();
  }
  for (const { start } of watchers) start();
  // Nothing here waits for more than microtasks and turns.
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  for (const { expected, seen } of watchers) assert.deepEqual(seen, expected());
  stop.abort();
  await store.close();
}

test("watches with selectors get what a scan of all changes gives", async () => {
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 3, arbitrary: writes.map((write) => ({ write })) },
    { weight: 1, arbitrary: watches.map((watch) => ({ watch })) },
  );
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 80, size: "max" }), run), {
    numRuns: 150,
  });
});
