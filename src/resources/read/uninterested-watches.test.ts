import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { KubeObject } from "../../base/api/object.ts";
import type { TableShape } from "../../base/api/reply.ts";
import { ManualClock } from "../../base/util/environment.suite.ts";
import { frameEvents } from "../../data/encoding/reply/watch-frames.ts";
import { structuralSchema } from "../../data/schema/structural-schema.ts";
import { MemoryStore } from "../../storage/memory.ts";
import type { Entry } from "../../storage/store.ts";
import type { ResourceContext } from "../context.ts";
import { serve } from "../model/catalog.ts";
import type { ResourceDefinition, ServedVersion } from "../model/definition.ts";
import { KeySpace } from "../model/keys.ts";
import { ObjectCodec } from "../model/object-codec.ts";
import { watchObjects } from "./object-watch.ts";
import { parseSelection } from "./selection.ts";
import { thing, thingVersion } from "./thing.suite.ts";
import { ViewCache } from "./view-cache.ts";

const WATCHERS = 10_000;

const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true } as const;

const version: ServedVersion = {
  ...thingVersion,
  schema: () => structuralSchema({ type: "object", properties: { spec: anything } }),
  selectableFields: [
    { name: "spec.place", value: (object) => (object.spec as { place?: string } | undefined)?.place ?? "" },
  ],
};
const placed: ResourceDefinition = { ...thing, versions: [version] };

class CountingCodec extends ObjectCodec {
  reads = 0;

  override read(entry: Entry, revision?: number): KubeObject {
    this.reads++;
    return super.read(entry, revision);
  }
}

function setUp(definition = placed) {
  const store = new MemoryStore();
  const codec = new CountingCodec();
  const keys = new KeySpace("/registry");
  const context = { store, clock: new ManualClock(0), keys, views: new ViewCache(codec) } as unknown as ResourceContext;
  const resource = serve(definition, version);
  const stop = new AbortController();
  const counts = { evaluations: 0 };
  /** Opens a watch that counts how often its selector is evaluated. */
  const open = (selectors: { labelSelector?: string; fieldSelector?: string; namespace?: string }) => {
    const nothing = { namespace: "", labelSelector: "", fieldSelector: "", shardSelector: "" };
    const parsed = parseSelection(resource, { ...nothing, ...selectors });
    const matches: typeof parsed.matches = (values) => {
      counts.evaluations++;
      return parsed.matches(values);
    };
    const selection = { ...parsed, matches };
    const request = { resourceVersion: 1, sendInitialEvents: false, allowBookmarks: false };
    return watchObjects(context, resource, { ...request, selection, deadlineMs: Infinity }, stop.signal);
  };
  let revision = 0;
  const write = async (name: string, place: string, app: string, namespace = "a") => {
    const metadata = { name, namespace, labels: { app } };
    const object: KubeObject = { kind: "Thing", apiVersion: "v1", metadata, spec: { place } };
    const result = await store.put(keys.key(placed, { namespace, name }), codec.write(object), revision);
    assert.ok(result.ok);
    revision = result.revision;
  };
  const close = () => {
    stop.abort();
    return store.close();
  };
  return { open, write, counts, codec, close };
}

const SELECTORS = {
  "a field": (i: number) => ({ fieldSelector: `spec.place=p-${i}` }),
  "a label": (i: number) => ({ labelSelector: `app=app-${i}` }),
  "a label in a set of one": (i: number) => ({ labelSelector: `app in (app-${i}),other notin (x)` }),
  "a label key": (i: number) => ({ labelSelector: `app-${i}=yes` }),
  "a name in all namespaces": (i: number) => ({ fieldSelector: `metadata.name=n-${i}` }),
  "a name in a namespace": (i: number) => ({ namespace: "a", fieldSelector: `metadata.name=n-${i}` }),
  "a field, and a label that all have": (i: number) => ({
    labelSelector: "app=web",
    fieldSelector: `spec.place=p-${i}`,
  }),
  "a label, after a field that all have": (i: number) => ({
    labelSelector: `app=app-${i}`,
    fieldSelector: "spec.place=here",
  }),
};

for (const [what, selectors] of Object.entries(SELECTORS)) {
  test(`a change evaluates no selector of ${WATCHERS} watches that select by ${what}`, async () => {
    const { open, write, counts, close } = setUp();
    const others = Array.from({ length: WATCHERS }, (_, i) => open(selectors(i)));
    for (const events of others) void events.next();
    const wanted = open({ fieldSelector: "spec.place=here" });
    const next = wanted.next();
    await nextTurn();
    counts.evaluations = 0;
    await write("new", "here", "web");
    assert.equal((await next).value?.length, 1);
    await nextTurn();
    // One by the watch that gets the event, and one by a watch that was opened before others had its first term.
    assert.ok(counts.evaluations <= 2, `${counts.evaluations}`);
    await close();
  });
}

test("watches with one selection evaluate it once per change", async () => {
  const { open, write, counts, close } = setUp();
  const watches = Array.from({ length: 100 }, () => open({ labelSelector: "app!=other" }));
  const next = watches.map((events) => events.next());
  await nextTurn();
  await write("new", "here", "web");
  for (const given of await Promise.all(next)) assert.equal(given.value?.length, 1);
  assert.equal(counts.evaluations, 1);
  await close();
});

for (const reading of ["typed", "structural"] as const) {
  test(`a change of a ${reading} kind is decoded once for all selectors and forms`, async () => {
    const { open, write, codec, close } = setUp({ ...placed, reading });
    const cell = ({ metadata }: KubeObject) => metadata.name ?? "";
    const shape: TableShape = { columns: [{ name: "Name", type: "string", cell }] };
    const table = { shape, options: { version: "v1", includeObject: "Metadata" } } as const;
    const now = () => 0;
    const forms = [
      { now },
      { now, transform: { kind: "Table", version: "v1" }, table },
      { now, transform: { kind: "PartialObjectMetadata", version: "v1" } },
    ] as const;
    const selectors = [
      {},
      { labelSelector: "app=web" },
      { labelSelector: "app!=x" },
      { fieldSelector: "spec.place=here" },
    ];
    const frames = forms.flatMap((form) => selectors.map((one) => frameEvents(open(one), form)));
    const changes = { here: ["ADDED"], also: ["MODIFIED"], there: ["DELETED", "MODIFIED"] };
    for (const [at, types] of Object.entries(changes)) {
      const next = frames.map((one) => one.next());
      await nextTurn();
      codec.reads = 0;
      await write("new", at === "there" ? at : "here", "web");
      const lines = (await Promise.all(next)).map(({ value }) => JSON.parse(Buffer.from(value ?? []).toString()).type);
      assert.equal(codec.reads, 1);
      assert.deepEqual([...new Set(lines)].sort(), types);
    }
    await close();
  });
}
