import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import type { Order } from "./kinds.ts";
import { type Session, type Shop, startShop } from "./service.ts";

const SESSIONS: Readonly<Record<string, Session>> = {
  "session of ann": { customer: "ann" },
  "session of bob": { customer: "bob" },
  "session of carl": { clerk: "carl" },
};

let folder = "";
let refunded: string[] = [];
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "shop-"));
});
after(() => rm(folder, { recursive: true, force: true }));

const openShop = (file: string): Promise<Shop> => {
  refunded = [];
  const refund = async ({ metadata }: Order) => void refunded.push(metadata.name);
  return startShop({ file: path.join(folder, file), login: (session) => SESSIONS[session], refund });
};

/** Sends requests with the session of a user. */
const sender = (shop: Shop, user: string) => async (method: string, to: string, body?: unknown) => {
  const headers = { authorization: `Bearer session of ${user}` };
  const response = await fetch(`${shop.url}${to}`, {
    method,
    headers,
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
};

test("takes, ships and cancels orders", async () => {
  await using shop = await openShop("orders.db");
  const [ann, carl] = [sender(shop, "ann"), sender(shop, "carl")];
  assert.equal((await ann("POST", "/customers", { name: "ann" })).status, 201);

  const made = await ann("POST", "/orders", { items: [{ product: "tea", count: 2 }, { product: "cup" }] });
  assert.equal(made.status, 201);
  assert.deepEqual([made.body.phase, made.body.totalCents], ["Received", 1700]);
  await shop.settled();
  assert.equal((await ann("GET", "/orders")).body[0].phase, "Packing");

  await carl("POST", `/parcels/ann/${made.body.name}`);
  await shop.settled();
  assert.equal((await ann("GET", "/orders")).body[0].phase, "Shipped");

  const second = await ann("POST", "/orders", { items: [{ product: "tea" }] });
  for (const { name } of [made.body, second.body]) assert.equal((await ann("DELETE", `/orders/${name}`)).status, 202);
  await shop.settled();
  assert.deepEqual((await ann("GET", "/orders")).body, []);
  assert.deepEqual(refunded, [second.body.name]);
});

test("every user has permissions of their own", async () => {
  await using shop = await openShop("permissions.db");
  const [ann, bob] = [sender(shop, "ann"), sender(shop, "bob")];
  const [carl, stranger] = [sender(shop, "carl"), sender(shop, "stranger")];
  for (const name of ["ann", "bob"]) await ann("POST", "/customers", { name });
  const order = await ann("POST", "/orders", { items: [{ product: "tea" }] });
  await shop.settled();
  assert.deepEqual((await bob("GET", "/orders")).body, []);
  assert.equal((await bob("DELETE", `/orders/${order.body.name}`)).status, 404);
  assert.equal((await ann("POST", `/parcels/ann/${order.body.name}`)).status, 403);
  assert.equal((await carl("GET", "/orders")).body.length, 1);
  assert.equal((await carl("POST", "/orders", { items: [{ product: "tea" }] })).status, 403);
  assert.equal((await stranger("GET", "/orders")).status, 401);
});

test("rejects orders that the schema or a function forbids", async () => {
  await using shop = await openShop("invalid.db");
  const ann = sender(shop, "ann");
  await ann("POST", "/customers", { name: "ann" });
  const message = async (body: object) => (await ann("POST", "/orders", body)).body.message;
  assert.match(await message({ items: [] }), /spec.items: Invalid value: 0: .*should have at least 1 items/);
  assert.match(await message({ items: [{ product: "gold" }] }), /there is no product gold/);
  assert.match(await message({}), /spec.items: Required value/);
  assert.match((await ann("POST", "/customers", { name: "x.y" })).body.message, /must be 2 to 32 letters/);
});

test("keeps its objects in a file", async () => {
  const items = [{ product: "tea" }];
  await using first = await openShop("kept.db");
  await sender(first, "ann")("POST", "/customers", { name: "ann" });
  await sender(first, "ann")("POST", "/orders", { items });
  await first.settled();
  await first[Symbol.asyncDispose]();
  await using second = await openShop("kept.db");
  const [order] = (await sender(second, "ann")("GET", "/orders")).body;
  assert.deepEqual(order.items, [{ product: "tea", count: 1 }]);
  assert.match(second.kubeconfig, /current-context/);
});
