import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { SecretSearch } from "./secrets.ts";

const VALUE = "kept-to-itself/ä+1";

function searchFor(value: string): SecretSearch {
  const search = new SecretSearch();
  search.add("the value", value);
  return search;
}

suite("the search for secrets finds a value", () => {
  const forms: Readonly<Record<string, string>> = {
    "as it is": `before ${VALUE} after`,
    "in base64": Buffer.from(VALUE).toString("base64"),
    "in base64 with something before it": Buffer.from(`{"a":"${VALUE}"}`).toString("base64"),
    "in base64 with one letter before it": Buffer.from(`x${VALUE}yz`).toString("base64"),
    "in base64 for URLs": Buffer.from(`xy${VALUE}`).toString("base64url"),
    "encoded for URLs": `?a=${encodeURIComponent(VALUE)}&b`,
    "in hexadecimal": Buffer.from(VALUE).toString("hex"),
    "in JSON": JSON.stringify({ message: JSON.stringify({ VALUE }) }),
  };
  for (const [name, text] of Object.entries(forms)) {
    test(name, () => {
      assert.deepEqual(new Set(searchFor(VALUE).in(text)), new Set(["the value"]));
    });
  }

  test("split across chunks", () => {
    const search = searchFor(VALUE);
    for (const letter of `before ${VALUE} after`) search.read(letter);
    assert.deepEqual(search.found, ["the value"]);
  });

  test("but no other text", () => {
    const search = searchFor(VALUE);
    search.read("kept to itself, a token, and kept-to-itsel");
    assert.deepEqual(search.found, []);
    assert.throws(() => search.add("short", "abc"), /too short/);
  });
});
