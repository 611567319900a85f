import { defineKind } from "binnacle";

const PRICES: Readonly<Record<string, number>> = { cup: 800, tea: 450 };

const items = {
  type: "array",
  minItems: 1,
  items: {
    type: "object",
    required: ["product"],
    properties: {
      product: { type: "string" },
      count: { type: "integer", minimum: 1, default: 1 },
    },
  },
} as const;

/** A customer of the shop. The customer's orders are in a namespace of their own. */
export const Customers = defineKind({
  group: "shop.example",
  kind: "Customer",
  scope: "Cluster",
  schema: {
    spec: { type: "object", properties: { email: { type: "string" } } },
    status: { type: "object", properties: { isReady: { type: "boolean" } } },
  },
  validate: ({ metadata: { name = "" } }) =>
    /^[a-z][a-z0-9-]{0,30}[a-z0-9]$/.test(name)
      ? []
      : [{ field: "metadata.name", message: "must be 2 to 32 letters, digits and dashes" }],
});

/** An order. The schema determines the TypeScript type; functions do what a schema cannot express. */
export const Orders = defineKind({
  group: "shop.example",
  kind: "Order",
  schema: {
    spec: { type: "object", required: ["items"], properties: { items } },
    status: {
      type: "object",
      required: ["phase", "totalCents"],
      properties: {
        phase: { type: "string", enum: ["Received", "Packing", "Shipped"] },
        totalCents: { type: "integer" },
      },
    },
  },
  columns: [
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Total", type: "integer", jsonPath: ".status.totalCents" },
  ],
  validate({ spec }, previous) {
    const unknown = spec.items.find(({ product }) => !Object.hasOwn(PRICES, product));
    const hasChanged = previous !== undefined && JSON.stringify(previous.spec.items) !== JSON.stringify(spec.items);
    return [
      ...(unknown ? [{ field: "spec.items", message: `there is no product ${unknown.product}` }] : []),
      ...(hasChanged ? [{ field: "spec.items", message: "cancel the order and place another one" }] : []),
    ];
  },
  status({ spec, status }) {
    const totals = spec.items.map(({ product, count }) => (PRICES[product] ?? 0) * count);
    return { phase: status?.phase ?? "Received", totalCents: totals.reduce((sum, one) => sum + one, 0) };
  },
});

/** What the warehouse has to send for an order, which owns it. */
export const Parcels = defineKind({
  group: "shop.example",
  kind: "Parcel",
  schema: {
    spec: { type: "object", required: ["items"], properties: { items } },
    status: { type: "object", properties: { isSent: { type: "boolean" } } },
  },
});

/** The TypeScript types of the objects. */
export type Customer = typeof Customers.Object;
export type Order = typeof Orders.Object;
