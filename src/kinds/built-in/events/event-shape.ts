import type { Column } from "../../../base/api/columns.ts";
import { ageOf } from "../../../base/api/human-duration.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import type { SelectableField } from "../../../resources/model/definition.ts";
import { type Cell, column, NAME, read, readNumber, readText, text, wide } from "../cells.ts";
import { selectable } from "../row.ts";

/** The default of `--event-ttl`. */
export const EVENT_TTL_SECONDS = 3600;

/** The paths of an Event's fields in v1 or in events.k8s.io/v1. */
export interface EventShape {
  readonly regarding: string;
  readonly message: string;
  readonly source: string;
  readonly controller: string;
  readonly first: string;
  readonly last: string;
  readonly count: string;
}

function printSource(event: KubeObject, shape: EventShape): string {
  const component = readText(event, `${shape.source}.component`) || readText(event, shape.controller);
  const instance = readText(event, `${shape.source}.host`) || readText(event, ".reportingInstance");
  return instance === "" ? component : `${component}, ${instance}`;
}

function printObject(event: KubeObject, shape: EventShape): string {
  const kind = readText(event, `${shape.regarding}.kind`).toLowerCase();
  const name = readText(event, `${shape.regarding}.name`);
  return name === "" ? kind : `${kind}/${name}`;
}

function printCount(event: KubeObject, shape: EventShape): number {
  return read(event, ".series") === undefined
    ? readNumber(event, shape.count) || 1
    : readNumber(event, ".series.count");
}

/** The table columns of Events. */
export function eventColumns(shape: EventShape): Column[] {
  const firstSeen: Cell = (event, now) => ageOf(read(event, shape.first) ?? read(event, ".eventTime"), now);
  const lastSeen: Cell = (event, now) => {
    if (read(event, ".series") !== undefined) return ageOf(read(event, ".series.lastObservedTime"), now);
    const last = read(event, shape.last);
    return last === undefined ? firstSeen(event, now) : ageOf(last, now);
  };
  return [
    column("Last Seen", "string", lastSeen),
    column("Type", "string", text(".type")),
    column("Reason", "string", text(".reason")),
    column("Object", "string", (event) => printObject(event, shape)),
    wide("Subobject", "string", text(`${shape.regarding}.fieldPath`)),
    wide("Source", "string", (event) => printSource(event, shape)),
    column("Message", "string", (event) => readText(event, shape.message).trim()),
    wide("First Seen", "string", firstSeen),
    wide("Count", "string", (event) => printCount(event, shape)),
    { ...NAME, priority: 1 },
  ];
}

const REFERENCE_MEMBERS = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"];

/** The field selectors of `involvedObject` or `regarding`. */
export function referenceFields(reference: string): SelectableField[] {
  return REFERENCE_MEMBERS.map((member) => selectable(`${reference}.${member}`));
}
