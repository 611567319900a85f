import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { JsonObject } from "../../../../base/api/object.ts";
import { ExactInteger } from "../../../../base/util/exact-integer.ts";
import {
  controllerRevisionHash,
  controllerRevisionName,
  printSortedJson,
  revisionData,
} from "./controller-revision.ts";
import { encodeHash, fnv32, fnv32a } from "./fnv.ts";
import { podTemplateHash, printPodTemplate, replicaSetName } from "./pod-template-hash.ts";
import { spewPrinter } from "./spew.ts";
import recorded from "./template-hashes.fixture.json" with { type: "json" };

suite("recorded hashes of kube-controller-manager", () => {
  for (const { name, collisionCount, templateHash, revisionHash, ...rest } of recorded) {
    const template = rest.template as JsonObject;
    test(name, () => {
      assert.equal(podTemplateHash(template, collisionCount), templateHash);
      assert.equal(controllerRevisionHash(revisionData(template, "float64"), collisionCount), revisionHash);
    });
  }
});

suite("podTemplateHash", () => {
  test("treats nulls, empty lists and empty maps as omitted", () => {
    const empty = {
      metadata: { labels: {}, finalizers: [], creationTimestamp: null },
      spec: { volumes: null, nodeSelector: {} },
    };
    assert.equal(printPodTemplate(empty), printPodTemplate({}));
  });

  test("tells an empty struct from an omitted one where Go has a pointer", () => {
    assert.notEqual(podTemplateHash({ spec: { securityContext: {} } }), podTemplateHash({ spec: {} }));
    assert.equal(podTemplateHash({ spec: {} }), podTemplateHash({}));
  });
});

suite("spewPrinter", () => {
  const structs = { "x.A": ["B b *x.B", "x @ x.B", "N n x.N"], "x.B": ["M m map[string]int64"] };
  const layout = { structs, types: { "x.N": "[]bool" } };

  test("prints types, names and values of fields", () => {
    const print = spewPrinter(layout, "x.A");
    assert.equal(print({}), "{B:(*x.B)<nil> x:(x.B){M:(map[string]int64)<nil>} N:(x.N)<nil>}");
    assert.equal(
      print({ b: {}, m: { "\u{1d11e}": 3, "\uffff": 2, a: 1 }, n: [true, false] }),
      "{B:(*x.B){M:(map[string]int64)<nil>} x:(x.B){M:(map[string]int64)map[a:1 \uffff:2 \u{1d11e}:3]} N:(x.N)[true false]}",
    );
  });

  test("rejects a type that is not in the layout", () => {
    assert.throws(() => spewPrinter(layout, "[]x.C"), /does not contain x\.C/);
  });
});

suite("revisionData", () => {
  test("sorts members like Go and escapes HTML", () => {
    const template = { spec: { "9": "<", "10": "&" }, metadata: { "\uffff": 1, "\u{1d11e}": 2, left: undefined } };
    const expected =
      '{"spec":{"template":{"$patch":"replace","metadata":{"\uffff":1,"\u{1d11e}":2},"spec":{"10":"\\u0026","9":"\\u003c"}}}}';
    assert.equal(revisionData(template, "float64"), expected);
  });

  test("rounds large integers for StatefulSets only", () => {
    const template = { spec: { a: new ExactInteger("9223372036854775807") as never } };
    assert.match(revisionData(template, "float64"), /"a":9223372036854776000}/);
    assert.match(revisionData(template, "int64"), /"a":9223372036854775807}/);
    assert.equal(printSortedJson([1.5, null, true]), "[1.5,null,true]");
  });
});

suite("names", () => {
  test("hashes become letters and digits that spell no words", () => {
    assert.equal(encodeHash(0), "4");
    assert.equal(encodeHash(4_294_967_295), "86f8fbc6f9");
  });

  test("long names of owners are cut", () => {
    assert.equal(replicaSetName("web", "abc"), "web-abc");
    assert.equal(replicaSetName("w".repeat(253), "abc"), `${"w".repeat(249)}-abc`);
    assert.equal(controllerRevisionName("web", "abc"), "web-abc");
    assert.equal(controllerRevisionName("w".repeat(253), "abc"), `${"w".repeat(223)}-abc`);
  });
});

test("FNV-1 and FNV-1a have their published values", () => {
  const of = (hash: (bytes: Uint8Array) => number, text: string) => hash(Buffer.from(text)).toString(16);
  assert.deepEqual([of(fnv32, ""), of(fnv32, "a"), of(fnv32, "foobar")], ["811c9dc5", "50c5d7e", "31f0b262"]);
  assert.deepEqual([of(fnv32a, ""), of(fnv32a, "a"), of(fnv32a, "foobar")], ["811c9dc5", "e40c292c", "bf9cf968"]);
  assert.equal(fnv32a(Buffer.from("bar"), fnv32a(Buffer.from("foo"))), fnv32a(Buffer.from("foobar")));
});
