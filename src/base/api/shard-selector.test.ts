import assert from "node:assert/strict";
import { test } from "node:test";
import { parseShardSelector, shardHash } from "./shard-selector.ts";

const object = (uid: string) => ({ kind: "Thing", apiVersion: "v1", metadata: { uid, namespace: "default" } });
const HALF = "0x8000000000000000";
const ALL = "0x10000000000000000";
const ZERO = "0x0000000000000000";

test("the hash is FNV-1a", () => {
  assert.equal(shardHash(""), "0xcbf29ce484222325");
  assert.equal(shardHash("abc"), "0xe71fa2190541574b");
  assert.equal(shardHash("default"), "0xebada5168620c5fe");
  assert.equal(shardHash("aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"), "0x93754b7248a00eb9");
});

test("every object matches exactly one of two halves", () => {
  const low = parseShardSelector(`shardRange(object.metadata.uid, '${ZERO}', '${HALF}')`);
  const high = parseShardSelector(`( shardRange(object.metadata.uid,'${HALF}',"${ALL}") )`);
  for (let count = 0; count < 100; count += 1) {
    const one = object(`uid-${count}`);
    assert.notEqual(low?.matches(one), high?.matches(one));
  }
});

test("prints the canonical text", () => {
  const selector = parseShardSelector(
    `shardRange( object.metadata.namespace , "${ZERO}" , '${HALF}' )||shardRange(object.metadata.namespace,'${HALF}','${ALL}')`,
  );
  assert.equal(
    selector?.text,
    `shardRange(object.metadata.namespace, '${ZERO}', '${HALF}') || shardRange(object.metadata.namespace, '${HALF}', '${ALL}')`,
  );
  assert.equal(parseShardSelector(""), undefined);
});

const REFUSED: Readonly<Record<string, RegExp>> = {
  " ": /empty shard selector is not allowed/,
  "nonsense(": /CEL parse error/,
  "size('x') > 1": /unsupported function "_>_"; only shardRange\(\) and \|\| are allowed/,
  "shardRange('a')": /requires exactly 3 arguments, got 1/,
  [`shardRange(object.metadata.name, '${ZERO}', '${ALL}')`]: /unsupported field path "object.metadata.name"/,
  [`shardRange(object.metadata.uid, '0', '${ALL}')`]: /hexStart must have '0x' prefix, got "0"/,
  [`shardRange(object.metadata.uid, '0x0', '${ALL}')`]: /\(did you mean "0x0000000000000000"\?\)/,
  [`shardRange(object.metadata.uid, '${HALF}', '${ZERO}')`]: /must be less than end/,
  [`shardRange(object.metadata.uid, '${ZERO}', '${HALF}') || shardRange(object.metadata.namespace, '${HALF}', '${ALL}')`]:
    /all shard ranges must use the same field/,
  ["(".repeat(70_000)]: /too long/,
  ["(".repeat(60_000)]: /recursion limit/,
};

for (const [text, message] of Object.entries(REFUSED)) {
  test(`'${text.slice(0, 60)}' is rejected`, () => assert.throws(() => parseShardSelector(text), message));
}
