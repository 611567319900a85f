import assert from "node:assert/strict";
import { test } from "node:test";
import { nonResourceAttributes, resourceAttributes } from "../../../base/api/attributes.ts";
import type { UserInfo } from "../../../base/api/user-info.ts";
import { Impersonator } from "./impersonator.ts";

const alice: UserInfo = { name: "alice", groups: ["dev", "system:authenticated"] };
const agent: UserInfo = {
  name: "system:serviceaccount:ns:agent",
  groups: [],
  extra: { "authentication.kubernetes.io/node-name": ["n1"], "authentication.kubernetes.io/pod-name": ["p"] },
};
const noUser = { name: "", uid: "", groups: [] as string[], extra: {} };
const listPods = (user: UserInfo) =>
  resourceAttributes(user, { verb: "list", apiGroup: "", resource: "pods", namespace: "ns" });

/** An authorizer that allows the listed rights (`verb group/resource[/subresource] name`) and records each check. */
function allowing(...rights: string[]) {
  const asked: string[] = [];
  return {
    asked,
    rights,
    async authorize({
      verb,
      apiGroup,
      resource,
      subresource,
      name,
      namespace,
      path,
      user,
    }: ReturnType<typeof listPods>) {
      const what = subresource === "" ? resource : `${resource}/${subresource}`;
      const place = namespace === "" ? "" : `${namespace}:`;
      const question = path === "" ? `${verb} ${apiGroup}/${what} ${place}${name}`.trimEnd() : `${verb} ${path}`;
      asked.push(question);
      const keys = Object.entries(user.extra ?? {}).find(([key]) => key.endsWith("associated-node-keys"));
      if (keys) asked.push(`keys ${keys[1].join(" ")}`);
      return { decision: rights.includes(question) ? ("allow" as const) : ("noOpinion" as const) };
    },
  };
}

async function refusal(impersonator: Impersonator, wanted: Partial<typeof noUser>, by = alice): Promise<string> {
  try {
    await impersonator.impersonate({ ...noUser, ...wanted }, listPods(by));
  } catch (error) {
    return (error as Error).message;
  }
  return "";
}

test("the classic verb allows each part separately", async () => {
  const authorizer = allowing(
    "impersonate /users bob",
    "impersonate authentication.k8s.io/uids u-1",
    "impersonate /groups a",
    "impersonate /groups b",
    "impersonate authentication.k8s.io/userextras/k v",
  );
  const impersonator = new Impersonator(authorizer, true);
  const wanted = { name: "bob", uid: "u-1", groups: ["a", "b"], extra: { k: ["v"] } };
  const { user, constraint } = await impersonator.impersonate(wanted, listPods(alice));
  assert.deepEqual(user, { ...wanted, groups: ["a", "b", "system:authenticated"] });
  assert.equal(constraint, "");
  assert.deepEqual(authorizer.asked, ["impersonate-on:user-info:list /pods ns:", ...authorizer.rights]);
});

test("rejects the impersonation if one part is not allowed", async () => {
  const impersonator = new Impersonator(allowing("impersonate /users bob"), false);
  const words = (resource: string, group: string) =>
    `is forbidden: User "alice" cannot impersonate resource "${resource}" in API group "${group}" at the cluster scope`;
  assert.equal(await refusal(impersonator, { name: "carl" }), `users "carl" ${words("users", "")}`);
  assert.equal(await refusal(impersonator, { name: "bob", groups: ["a"] }), `groups "a" ${words("groups", "")}`);
  const group = "authentication.k8s.io";
  assert.equal(await refusal(impersonator, { name: "bob", uid: "1" }), `uids.${group} "1" ${words("uids", group)}`);
  assert.equal(
    await refusal(impersonator, { name: "bob", extra: { k: ["v"] } }),
    `userextras.${group} "v" ${words("userextras/k", group)}`,
  );
  const account = { name: "system:serviceaccount:ns:bot" };
  assert.equal(
    await refusal(impersonator, account),
    'serviceaccounts "bot" is forbidden: User "alice" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "ns"',
  );
});

test("completes the groups", async () => {
  const everything = { authorize: async () => ({ decision: "allow" as const }) };
  const impersonator = new Impersonator(everything, false);
  const groupsOf = async (name: string, groups: string[] = []) =>
    (await impersonator.impersonate({ ...noUser, name, groups }, listPods(alice))).user.groups;
  assert.deepEqual(await groupsOf("bob"), ["system:authenticated"]);
  assert.deepEqual(await groupsOf("bob", ["system:authenticated"]), ["system:authenticated"]);
  assert.deepEqual(await groupsOf("bob", ["system:unauthenticated"]), ["system:unauthenticated"]);
  assert.deepEqual(await groupsOf("system:anonymous"), ["system:unauthenticated"]);
  assert.deepEqual(await groupsOf("system:anonymous", ["a"]), ["a", "system:unauthenticated"]);
  const own = ["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"];
  assert.deepEqual(await groupsOf("system:serviceaccount:ns:bot"), own);
  assert.deepEqual(await groupsOf("system:serviceaccount:ns:bot", ["a"]), ["a", "system:authenticated"]);
  assert.deepEqual(await groupsOf("system:serviceaccount:NS:bot"), ["system:authenticated"]);
  assert.deepEqual(await groupsOf("system:serviceaccount:ns:bot:x"), ["system:authenticated"]);
  assert.deepEqual(await groupsOf("system:node:n1"), ["system:authenticated"]);
});

test("user-info allows an impersonation by its own verbs", async () => {
  const group = "authentication.k8s.io";
  const authorizer = allowing(
    "impersonate-on:user-info:list /pods ns:",
    `impersonate:user-info ${group}/users bob`,
    `impersonate:user-info ${group}/groups *`,
    `impersonate:user-info ${group}/userextras/* *`,
  );
  const impersonator = new Impersonator(authorizer, true);
  const wanted = { ...noUser, name: "bob", groups: ["a", "b", "c", "d"], extra: { "e.io/k": ["1", "2", "3", "4"] } };
  assert.equal((await impersonator.impersonate(wanted, listPods(alice))).constraint, "impersonate:user-info");
  const other = resourceAttributes(alice, { verb: "get", apiGroup: "", resource: "pods", namespace: "ns", name: "p" });
  await assert.rejects(impersonator.impersonate(wanted, other), {
    message:
      'pods "p" is forbidden: User "alice" cannot impersonate-on:user-info:get resource "pods" in API group "" in the namespace "ns"',
  });
  await assert.rejects(impersonator.impersonate(wanted, nonResourceAttributes(alice, "get", "/metrics")), {
    message: 'forbidden: User "alice" cannot impersonate-on:user-info:get path "/metrics"',
  });
});

test("user-info rejects values that only the classic verb can allow", async () => {
  const group = "authentication.k8s.io";
  const everything = {
    authorize: async ({ verb }: { verb: string }) => ({
      decision: verb === "impersonate" ? ("noOpinion" as const) : ("allow" as const),
    }),
  };
  const impersonator = new Impersonator(everything, true);
  const groups = `User "alice" cannot impersonate:user-info resource "groups" in API group "${group}" at the cluster scope`;
  const extras = `userextras.${group} is forbidden: User "alice" cannot impersonate:user-info resource "userextras" in API group "${group}" at the cluster scope`;
  const cases: [Partial<typeof noUser>, string][] = [
    [
      { groups: ["system:masters"] },
      `groups.${group} "system:masters" is forbidden: ${groups}: impersonating the system:masters group is not allowed`,
    ],
    [
      { groups: ["a", ""] },
      `groups.${group} is forbidden: ${groups}: impersonating the empty string group is not allowed`,
    ],
    [{ extra: { "": ["v"] } }, `${extras}: impersonating the empty string key in extra is not allowed`],
    [{ extra: { "e.io/K": ["v"] } }, `${extras}: impersonating a non-lowercase key in extra is not allowed: "e.io/K"`],
    [{ extra: { "e.io/k": [""] } }, `${extras}: impersonating the empty string value in extra is not allowed`],
    [
      { extra: { k: ["v"] } },
      `${extras}: impersonating an invalid key in extra is not allowed: extra.key: Invalid value: "k": must be a domain-prefixed path (such as "acme.io/foo")`,
    ],
  ];
  for (const [wanted, text] of cases) assert.equal(await refusal(impersonator, { name: "bob", ...wanted }), text);
});

test("nodes and service accounts have their own modes, for the bare name only", async () => {
  const group = "authentication.k8s.io";
  const authorizer = allowing(
    "impersonate-on:arbitrary-node:list /pods ns:",
    `impersonate:arbitrary-node ${group}/nodes n1`,
    "impersonate-on:serviceaccount:list /pods ns:",
    `impersonate:serviceaccount ${group}/serviceaccounts ns:bot`,
  );
  const impersonator = new Impersonator(authorizer, true);
  const node = await impersonator.impersonate({ ...noUser, name: "system:node:n1" }, listPods(alice));
  assert.deepEqual(node, {
    user: { ...noUser, name: "system:node:n1", groups: ["system:nodes", "system:authenticated"] },
    constraint: "impersonate:arbitrary-node",
  });
  const account = await impersonator.impersonate({ ...noUser, name: "system:serviceaccount:ns:bot" }, listPods(alice));
  assert.equal(account.constraint, "impersonate:serviceaccount");
  assert.match(
    await refusal(impersonator, { name: "system:node:n1", uid: "1" }),
    /cannot impersonate resource "users"/,
  );
});

test("associated-node lets a service account impersonate the node of its pod", async () => {
  const group = "authentication.k8s.io";
  const authorizer = allowing(
    "impersonate-on:associated-node:list /pods ns:",
    `impersonate:associated-node ${group}/nodes *`,
  );
  const impersonator = new Impersonator(authorizer, true);
  const { user, constraint } = await impersonator.impersonate({ ...noUser, name: "system:node:n1" }, listPods(agent));
  assert.deepEqual(
    [user.name, user.groups, constraint],
    ["system:node:n1", ["system:nodes", "system:authenticated"], "impersonate:associated-node"],
  );
  const keys = "keys authentication.kubernetes.io/node-name authentication.kubernetes.io/pod-name";
  assert.deepEqual(authorizer.asked, [authorizer.rights[0], keys, authorizer.rights[1], keys]);
  assert.match(await refusal(impersonator, { name: "system:node:n2" }, agent), /impersonate-on:arbitrary-node:list/);
});

test("tries the mode that last allowed the caller first, and reports its error", async () => {
  const authorizer = allowing("impersonate /users bob");
  const impersonator = new Impersonator(authorizer, true);
  assert.match(await refusal(impersonator, { name: "carl" }), /impersonate-on:user-info:list/);
  assert.equal(await refusal(impersonator, { name: "bob" }), "");
  assert.match(await refusal(impersonator, { name: "carl" }), /^users "carl" is forbidden/);
  authorizer.rights.length = 0;
  assert.match(await refusal(impersonator, { name: "bob" }), /^users "bob" is forbidden/);
});
