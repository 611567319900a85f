import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fc } from "../../../test/support/random.ts";
import { ProtobufError } from "../../base/util/wire-reader.ts";
import { ProtobufReader, ProtobufWriter } from "./protobuf.ts";

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
const reader = (text: string) => new ProtobufReader(Buffer.from(text, "hex"));

describe("ProtobufWriter", () => {
  it("writes fields in the protobuf wire format", () => {
    const writer = new ProtobufWriter(4);
    assert.equal(hex(writer.encode((w) => w.integer(1, 150))), "089601");
    assert.equal(hex(writer.encode((w) => w.bytes(2, "testing"))), "120774657374696e67");
    assert.equal(hex(writer.encode((w) => w.message(3, () => w.integer(1, 150)))), "1a03089601");
    assert.equal(hex(writer.encode((w) => w.integer(64, 1))), "800401");
    assert.equal(hex(writer.encode((w) => w.bytes(1, "ü"))), "0a02c3bc");
  });

  it("omits zero, false and empty values, except on demand", () => {
    const writer = new ProtobufWriter();
    const bytes = writer.encode((w) => {
      w.integer(1, 0);
      w.integer(2, 0n);
      w.boolean(3, false);
      w.bytes(4, "");
      w.bytes(5, new Uint8Array(0));
      w.zero(6);
    });
    assert.equal(hex(bytes), "3000");
  });

  it("rejects numbers it cannot write", () => {
    const writer = new ProtobufWriter();
    for (const value of [-1, 1.5, 2 ** 53, Number.NaN]) {
      assert.throws(() => writer.encode((w) => w.integer(1, value)), ProtobufError);
    }
  });
});

describe("ProtobufReader", () => {
  it("reads back values of any size", () => {
    const writer = new ProtobufWriter(1);
    const integer = fc.oneof(fc.nat(300), fc.maxSafeNat());
    const property = fc.property(
      integer,
      fc.bigInt(0n, 2n ** 64n - 1n),
      fc.string({ unit: "binary" }),
      fc.uint8Array(),
      (n, big, text, bytes) => {
        const wellFormed = text.toWellFormed();
        const encoded = writer.encode((w) => {
          w.bytes(5, bytes);
          w.message(4, () => w.bytes(3, wellFormed));
          w.integer(2, big);
          w.integer(1, n);
        });
        const read = { n: 0, big: 0n, text: "", bytes: new Uint8Array(0) as Uint8Array };
        const r = new ProtobufReader(encoded);
        while (r.next()) {
          if (r.field === 1) read.n = r.integer();
          else if (r.field === 2) read.big = r.bigInteger();
          else if (r.field === 4) {
            read.text = r.message((inner) => {
              let value = "";
              while (inner.next()) if (inner.field === 3) value = inner.string();
              return value;
            });
          } else if (r.field === 5) read.bytes = r.bytes();
        }
        assert.deepEqual(read, { n, big, text: wellFormed, bytes: new Uint8Array(bytes) });
      },
    );
    fc.assert(property, { verbose: true, numRuns: 50 });
  });

  it("reads negative integers and rejects inexact ones", () => {
    const minusOne = reader("08ffffffffffffffffff01");
    assert.ok(minusOne.next());
    assert.equal(minusOne.integer(), -1);
    const tooLarge = reader("08ffffffffffffffff7f");
    assert.ok(tooLarge.next());
    assert.throws(() => tooLarge.integer(), ProtobufError);
    const largest = reader("08ffffffffffffff0f");
    assert.ok(largest.next());
    assert.equal(largest.integer(), Number.MAX_SAFE_INTEGER);
  });

  it("skips unread fields of every wire type", () => {
    const r = reader(`0896${"01"}${"110102030405060708"}${"1a03616263"}${"2501020304"}${"3007"}`);
    const seen: number[] = [];
    let last = 0;
    while (r.next()) {
      seen.push(r.field);
      if (r.field === 6) last = r.integer();
    }
    assert.deepEqual([seen, last], [[1, 2, 3, 4, 6], 7]);
  });

  it("rejects truncated and malformed bytes", () => {
    const whole = "0896011a03616263110102030405060708";
    const boundaries = [0, 6, 16, whole.length];
    for (let length = 0; length <= whole.length; length += 2) {
      const r = reader(whole.slice(0, length));
      const walk = () => {
        while (r.next());
      };
      if (boundaries.includes(length)) walk();
      else assert.throws(walk, ProtobufError, `first ${length / 2} bytes`);
    }
    for (const bad of ["0b", "00", "0affffffff0f", "08ffffffffffffffffffffff01", "0a0161"]) {
      const r = reader(bad);
      assert.throws(() => {
        while (r.next()) r.integer();
      }, ProtobufError);
    }
  });

  it("only throws ProtobufError", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        try {
          const r = new ProtobufReader(bytes);
          while (r.next())
            if (r.field % 2 === 0)
              r.message((inner) => {
                while (inner.next());
              });
        } catch (error) {
          assert.ok(error instanceof ProtobufError);
        }
      }),
      { verbose: true },
    );
  });
});
