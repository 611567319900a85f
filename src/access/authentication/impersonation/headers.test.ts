import assert from "node:assert/strict";
import { test } from "node:test";
import { isImpersonationHeader, readImpersonation } from "./headers.ts";

const read = (headers: Record<string, string | string[]>) => readImpersonation(headers, true);
const refusal = (headers: Record<string, string | string[]>, isConstrained = true): string => {
  try {
    readImpersonation(headers, isConstrained);
  } catch (error) {
    return (error as Error).message;
  }
  return "";
};

test("reads the wanted user exactly as sent", () => {
  assert.deepEqual(
    read({
      "impersonate-user": "bob",
      "impersonate-group": ["a", "b, c", ""],
      "impersonate-uid": "u-1",
      "impersonate-extra-reason": ["x", "y"],
      "impersonate-extra-example.com%2freason": "z",
      host: "localhost",
    }),
    {
      name: "bob",
      uid: "u-1",
      groups: ["a", "b, c", ""],
      extra: { reason: ["x", "y"], "example.com/reason": ["z"] },
    },
  );
});

test("uses the first of several users or uids, even if it is empty", () => {
  assert.deepEqual(read({ "impersonate-user": ["bob", "carl"], "impersonate-uid": ["1", "2"] }), {
    name: "bob",
    uid: "1",
    groups: [],
    extra: {},
  });
  assert.equal(read({ "impersonate-user": ["", "carl"] }), undefined);
  assert.equal(read({ "impersonate-uid": "" }), undefined);
});

test("decodes values as UTF-8, and rejects other encodings", () => {
  const bytes = Buffer.from("bö").toString("latin1");
  assert.equal(read({ "impersonate-user": bytes })?.name, "bö");
  assert.match(refusal({ "impersonate-user": "\xff" }), /not UTF-8/);
  assert.match(refusal({ "impersonate-user": "bob", "impersonate-group": ["a", "\xc0\xaf"] }), /not UTF-8/);
  assert.match(refusal({ "impersonate-user": "bob", "impersonate-extra-%ff": "x" }), /not UTF-8/);
});

test("decodes keys of extra, and keeps those with an invalid escape unchanged", () => {
  const extra = read({
    "impersonate-user": "bob",
    "impersonate-extra-%41bc": "1",
    "impersonate-extra-a%zz": "2",
    "impersonate-extra-__proto__": "3",
    "impersonate-extra-": "4",
  })?.extra;
  assert.deepEqual(Object.entries(extra ?? {}), [
    ["Abc", ["1"]],
    ["a%zz", ["2"]],
    ["__proto__", ["3"]],
    ["", ["4"]],
  ]);
});

test("rejects headers without a user with kube-apiserver's message", () => {
  const end = "without impersonating a user name";
  const none = "Groups:[]string(nil), Extra:map[string][]string(nil)";
  assert.equal(
    refusal({ "impersonate-group": "" }),
    `requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{""}, Extra:map[string][]string(nil)} ${end}`,
  );
  assert.equal(
    refusal({ "impersonate-uid": "<&>" }),
    `requested &user.DefaultInfo{Name:"", UID:"<&>", ${none}} ${end}`,
  );
  assert.equal(
    refusal({ "impersonate-extra-b": '"q" \\x', "impersonate-extra-a": ["1", "z"], "impersonate-user": "" }),
    `requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string(nil), Extra:map[string][]string{"a":[]string{"1", "z"}, "b":[]string{"\\"q\\" \\\\x"}}} ${end}`,
  );
});

test("uses the message of the classic filter without ConstrainedImpersonation", () => {
  assert.equal(
    refusal({ "impersonate-group": "a", "impersonate-uid": "u", "impersonate-extra-k": "v" }, false),
    "requested [{Group  a    } {UserExtra  v  authentication.k8s.io/v1  k} {UID  u  authentication.k8s.io/v1  }] without impersonating a user",
  );
});

test("recognises impersonation headers by name", () => {
  for (const name of [
    "impersonate-user",
    "impersonate-uid",
    "impersonate-group",
    "impersonate-extra-",
    "impersonate-extra-a",
  ]) {
    assert.ok(isImpersonationHeader(name), name);
  }
  for (const name of ["impersonate", "impersonate-users", "x-impersonate-user"])
    assert.ok(!isImpersonationHeader(name), name);
});
