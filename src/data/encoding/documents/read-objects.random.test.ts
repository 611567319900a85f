import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { fc } from "../../../../test/support/random.ts";
import type { Json, JsonObject } from "../../../base/api/object.ts";
import { parseJsonText } from "../../../base/util/parse-json.ts";
import { printYaml } from "../yaml/yaml-print.ts";
import { MAX_DOCUMENT } from "./document.ts";
import { JsonSplitter } from "./json-splitter.ts";
import { readObjects } from "./read-objects.ts";

/** The names and lines of the objects in a text that arrives in pieces of a given size. */
async function read(text: string, pieceSize = text.length): Promise<{ names: string[]; objects: JsonObject[] }> {
  const bytes = Buffer.from(text);
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += pieceSize) yield bytes.subarray(at, at + pieceSize);
  }
  const names: string[] = [];
  const objects: JsonObject[] = [];
  for await (const { object, line } of readObjects(pieces())) {
    names.push(`${object.kind} ${object.metadata.name}:${line}`);
    objects.push(object);
  }
  return { names, objects };
}

/** A copy without prototypes and negative zeros. JSON.parse itself may mix up member names. */
const plain = (value: unknown): unknown => parseJsonText(JSON.stringify(value));

const thing = (name: string, more: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "Thing",
  metadata: { name },
  ...more,
});

suite("readObjects", () => {
  const cases: Readonly<Record<string, readonly [text: string, names: readonly string[]]>> = {
    "YAML documents": [
      "# a comment\n---\n\nkind: A\napiVersion: v1\nmetadata: {name: a}\n--- # more\nkind: B\napiVersion: v1\nmetadata:\n  name: b\n...\n---\n# nothing\n---\n",
      ["A a:2", "B b:7"],
    ],
    "a document on the line of its separator": [
      '--- {"kind":"A","apiVersion":"v1","metadata":{"name":"a"}}\n',
      ["A a:1"],
    ],
    "a directive, a byte order mark and Windows line ends": [
      "\ufeff%YAML 1.2\r\n---\r\nkind: A\r\napiVersion: v1\r\nmetadata:\r\n  name: a\r\n",
      ["A a:2"],
    ],
    "a List of kubectl": [
      "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: A\n  metadata:\n    name: a\n  data:\n    text: |\n      - kind\n\n      items:\n- apiVersion: v1\n  kind: B\n  metadata:\n    name: b\nkind: List\nmetadata:\n  resourceVersion: ''\n",
      ["A a:3", "B b:12"],
    ],
    "a List with indented items, and another document": [
      "kind: List\napiVersion: v1\nitems:\n\n  - apiVersion: v1\n    kind: A\n    metadata: {name: a}\n    list:\n    - kind: X\n  - kind: B\n    apiVersion: v1\n---\nkind: C\napiVersion: v1\n",
      ["A a:5", "B undefined:10", "C undefined:12"],
    ],
    "an object with items that are not objects": [
      "apiVersion: v1\nitems:\n- name: x\n- name: y\nkind: A\nmetadata:\n  name: a\n",
      ["A a:1"],
    ],
    "items of a server's list in YAML": [
      "apiVersion: v1\nitems:\n- metadata:\n    name: x\n- metadata:\n    name: z\nkind: ThingList\n",
      ["Thing x:1", "Thing z:1"],
    ],
    "an empty List": ["apiVersion: v1\nitems: []\nkind: List\n", []],
    "JSON values": [
      '{"kind":"A","apiVersion":"v1","metadata":{"name":"a{\\"["}}\n---\n  {"kind":"B",\n"apiVersion":"v1"}',
      ['A a{"[:1', "B undefined:3"],
    ],
    "a List of kubectl in JSON": [
      '{\n"apiVersion":"v1",\n"items":[\n{"apiVersion":"v1","kind":"A","metadata":{"name":"a"},"items":[{"x":[1]}]},\n{"apiVersion":"v1","kind":"B","metadata":{"name":"b"}}],\n"kind":"List"}',
      ["A a:4", "B b:5"],
    ],
    "a list of a server in JSON": [
      '{"kind":"ThingList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}\n',
      ["Thing a:1", "Thing b:1"],
    ],
    "an object with items that are not objects in JSON": [
      '{"kind":"A","apiVersion":"v1","items":[{"name":"x"},{"name":"y"}],"metadata":{"name":"a"}}',
      ["A a:1"],
    ],
    nothing: ["\n  \n", []],
  };
  for (const [what, [text, names]] of Object.entries(cases)) {
    test(what, async () => {
      for (const size of [1, 2, 3, 7, 100, Buffer.byteLength(text)]) {
        assert.deepEqual((await read(text, size)).names, names, `in pieces of ${size}`);
      }
    });
  }

  test("a list of random objects is the same whether it is split or decoded as a whole", async () => {
    const text = fc.oneof(fc.constantFrom("a\nb", "- x", "---", "items:", "# no", "{", '"', "\\"), fc.string());
    const value = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
    const objects = fc.array(
      fc.record({ name: text, spec: fc.oneof(value, fc.array(text), fc.dictionary(text, text)) as fc.Arbitrary<Json> }),
      { maxLength: 5 },
    );
    await fc.assert(
      fc.asyncProperty(objects, fc.integer({ min: 1, max: 50 }), async (given, size) => {
        const items = given.map(({ name, spec }) => thing(name, { spec }));
        const list: JsonObject = { apiVersion: "v1", items, kind: "List", metadata: { resourceVersion: "" } };
        const printed = [JSON.stringify(list, null, 2), JSON.stringify(list), printYaml(list)];
        for (const one of [...printed, items.map((item) => `---\n${printYaml(item)}`).join("")]) {
          const found = (await read(one, size)).objects;
          assert.deepEqual(plain(found), plain(items));
        }
      }),
      { numRuns: 60 },
    );
  });

  const refused: Readonly<Record<string, readonly [text: string, message: RegExp]>> = {
    "YAML without an apiVersion": [
      "a: b\n---\nkind: A\napiVersion: v1\n",
      /line 1: the object has no apiVersion or kind/,
    ],
    "a broken document": [
      "kind: A\napiVersion: v1\n---\nkind: [\n",
      /line 3: cannot decode the object that begins here/,
    ],
    "a scalar": ["---\nhello\n", /line 1: expected an object, not "hello"/],
    "truncated JSON": ['{"kind":"A","a":[', /line 1: unexpected end of a JSON value/],
    "text between JSON values": ['{"kind":"A","apiVersion":"v1"} x', /expected a JSON object/],
    "too many brackets": ['{"kind":"A","apiVersion":"v1"}}', /unexpected closing bracket/],
    "a List of numbers": ['{"apiVersion":"v1","kind":"List","items":[1]}', /expected an object, not 1/],
    "metadata of another type": ["kind: A\napiVersion: v1\nmetadata: x\n", /metadata is not an object/],
  };
  for (const [what, [text, message]] of Object.entries(refused)) {
    test(`${what} is rejected`, () => assert.rejects(read(text), message));
  }

  test("rejects an object that does not end", async () => {
    const piece = "x".repeat(1024 * 1024);
    async function* endless(head: string): AsyncGenerator<Uint8Array> {
      yield Buffer.from(head);
      for (;;) yield Buffer.from(piece);
    }
    for (const head of ['{"a":"', "kind: List\nitems:\n- kind: A\n  apiVersion: v1\n  x: ", "a: "]) {
      const reading = async () => {
        for await (const _ of readObjects(endless(head))) assert.fail("no object is complete");
      };
      await assert.rejects(reading(), new RegExp(`the object has more than ${MAX_DOCUMENT} characters`));
    }
    assert.throws(() => new JsonSplitter().push("{".concat('"a":['.repeat(20_000))), /nested too deeply/);
  });
});
