import { defineKind } from "binnacle";

/** What customers order. The schema gives the type of its objects; functions do what data cannot. */
export const Orders = defineKind({
  group: "shop.example",
  kind: "Order",
  schema: {
    spec: {
      type: "object",
      required: ["items"],
      properties: {
        customer: { type: "string" },
        items: {
          type: "array",
          items: {
            type: "object",
            required: ["product", "priceCents"],
            properties: {
              product: { type: "string" },
              priceCents: { type: "integer", minimum: 0 },
              count: { type: "integer", minimum: 1, default: 1 },
            },
          },
        },
      },
    },
    status: {
      type: "object",
      required: ["totalCents"],
      properties: { totalCents: { type: "integer" } },
    },
  },
  columns: [
    { name: "Customer", type: "string", jsonPath: ".spec.customer" },
    { name: "Total", type: "integer", jsonPath: ".status.totalCents" },
  ],
  setDefaults({ spec }) {
    spec.customer ??= "somebody";
  },
  validate({ spec }, previous) {
    const isShipped = previous?.metadata.annotations?.["shop.example/shipped"] === "true";
    const hasChanged = JSON.stringify(previous?.spec.items) !== JSON.stringify(spec.items);
    if (isShipped && hasChanged) return [{ field: "spec.items", message: "the order is on its way" }];
    return spec.items.length === 0 ? [{ field: "spec.items", message: "nothing is ordered" }] : [];
  },
  status({ spec }) {
    const totals = spec.items.map(({ priceCents, count }) => priceCents * count);
    return { totalCents: totals.reduce((sum, one) => sum + one, 0) };
  },
});

/** An order, as the schema describes it. */
export type Order = typeof Orders.Object;
