/** A CustomResourceDefinition of Widgets in `shop.example` whose spec has the given fields. */
export function widgetsDefinition(fields: object) {
  const spec = { type: "object", properties: fields };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.shop.example" },
    spec: {
      group: "shop.example",
      scope: "Namespaced",
      names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
      versions: [
        {
          ...{ name: "v1", served: true, storage: true },
          schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
        },
      ],
    },
  };
}
