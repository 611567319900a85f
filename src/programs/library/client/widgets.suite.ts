import { defineKind } from "../define-kind.ts";

/** A kind for tests: a required member, members with defaults, and a status. */
export const Widgets = defineKind({
  group: "shop.example",
  kind: "Widget",
  schema: {
    spec: {
      type: "object",
      required: ["colour"],
      properties: {
        colour: { type: "string", enum: ["red", "blue"] },
        size: { type: "integer", default: 3, minimum: 1 },
        label: { type: "string" },
        parts: {
          type: "array",
          items: {
            type: "object",
            required: ["name", "count"],
            properties: { name: { type: "string" }, count: { type: "integer", default: 1 } },
          },
        },
      },
    },
    status: { type: "object", properties: { painted: { type: "boolean" }, note: { type: "string" } } },
  },
});

/** A kind without a namespace and without a status. */
export const Shelves = defineKind({
  group: "shop.example",
  kind: "Shelf",
  plural: "shelves",
  scope: "Cluster",
  schema: { spec: { type: "object", properties: { height: { type: "integer" } } } },
});

/** A kind that widgets own. */
export const Labels = defineKind({
  group: "shop.example",
  kind: "Label",
  schema: { spec: { type: "object", required: ["text"], properties: { text: { type: "string" } } } },
});
