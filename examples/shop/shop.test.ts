import assert from "node:assert/strict";
import { test } from "node:test";
import { startShop } from "./service.ts";

test("the shop keeps its orders in a control plane of its own", async () => {
  await using shop = await startShop();
  const order = (spec: object) => fetch(`${shop.url}/orders`, { method: "POST", body: JSON.stringify(spec) });

  const made = await order({
    items: [
      { product: "tea", priceCents: 450, count: 2 },
      { product: "cup", priceCents: 800 },
    ],
  });
  assert.equal(made.status, 201);
  const { name, ...rest } = (await made.json()) as { name: string };
  assert.match(name, /^order-/);
  assert.deepEqual(rest, { customer: "somebody", totalCents: 1700 });

  const refused = await order({ items: [] });
  assert.equal(refused.status, 422);
  assert.match(await refused.text(), /spec.items: Invalid value: \[\]: nothing is ordered/);

  const listed = (await (await fetch(`${shop.url}/orders`)).json()) as unknown[];
  assert.equal(listed.length, 1);
  assert.match(shop.kubeconfig, /current-context/);
});
