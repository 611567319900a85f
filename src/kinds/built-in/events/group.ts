import type { ResourceDefinition } from "../../../resources/model/definition.ts";
import { defineKinds, FIELD_LABEL_NOT_SUPPORTED, selectable } from "../row.ts";
import { eventHooks } from "./event.ts";
import { EVENT_TTL_SECONDS, type EventShape, eventColumns, referenceFields } from "./event-shape.ts";

const shape: EventShape = {
  regarding: ".regarding",
  message: ".note",
  source: ".deprecatedSource",
  controller: ".reportingController",
  first: ".deprecatedFirstTimestamp",
  last: ".deprecatedLastTimestamp",
  count: ".deprecatedCount",
};

/** Event of events.k8s.io: the same objects as the Events of the core group. */
export const eventsKinds: ResourceDefinition[] = defineKinds(
  { group: "events.k8s.io", schemaPackage: "io.k8s.api.events" },
  [
    {
      kind: "Event",
      plural: "events",
      shortNames: ["ev"],
      versions: ["v1"],
      storage: { group: "" },
      columns: eventColumns(shape),
      selectableFields: [
        selectable("reason"),
        ...referenceFields("regarding"),
        selectable("reportingController"),
        selectable("type"),
      ],
      rules: {
        createsOnUpdate: true,
        garbageCollection: "unsupported",
        ttlSeconds: EVENT_TTL_SECONDS,
        unknownFieldMessage: FIELD_LABEL_NOT_SUPPORTED,
      },
      hooks: eventHooks,
    },
  ],
);
