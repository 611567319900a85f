import { isDeepStrictEqual } from "node:util";
import { quote } from "../../../../base/go/quote.ts";
import type { CustomResourceDefinition, DefinitionNames } from "../../../../kinds/types/custom-resource-definition.ts";
import { conditionOf, type NewCondition, type StatusChange, saysSame } from "./definition-status.ts";

const NAMES_ACCEPTED = "NamesAccepted";
const ESTABLISHED = "Established";

/**
 * Computes the accepted names of a definition among the others of its group, and its conditions. Undefined if nothing
 * changes. Upstream: `calculateNamesAndConditions` of the NamingConditionController.
 */
export function acceptNames(
  definition: CustomResourceDefinition,
  all: Iterable<CustomResourceDefinition>,
): StatusChange | undefined {
  const requested = definition.spec?.names ?? {};
  const accepted = definition.status?.acceptedNames ?? {};
  if (isDeepStrictEqual(requested, accepted)) return undefined;
  const { names, conflict } = settleNames(requested, accepted, takenNames(definition, all));
  const accepting: NewCondition = conflict ?? {
    type: NAMES_ACCEPTED,
    status: "True",
    reason: "NoConflicts",
    message: "no conflicts found",
  };
  if (isDeepStrictEqual(names, accepted) && saysSame(conditionOf(definition, NAMES_ACCEPTED), accepting)) {
    return undefined;
  }
  return { acceptedNames: names, conditions: [accepting, establishedBy(definition, conflict === undefined)] };
}

interface TakenNames {
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
}

function takenNames({ spec }: CustomResourceDefinition, all: Iterable<CustomResourceDefinition>): TakenNames {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const other of all) {
    if (other.spec?.group !== spec?.group) continue;
    const { plural = "", singular = "", shortNames = [], kind = "", listKind = "" } = other.status?.acceptedNames ?? {};
    for (const name of [plural, singular, ...shortNames]) resources.add(name);
    kinds.add(kind).add(listKind);
  }
  return { resources, kinds };
}

function settleNames(requested: DefinitionNames, accepted: DefinitionNames, { resources, kinds }: TakenNames) {
  const names: DefinitionNames = { ...accepted };
  let conflict: NewCondition | undefined;
  const refuse = (reason: string, message: string): void => {
    conflict = { type: NAMES_ACCEPTED, status: "False", reason, message };
  };
  const settle = (member: "plural" | "singular" | "kind" | "listKind", taken: ReadonlySet<string>, reason: string) => {
    const wanted = requested[member] ?? "";
    if (wanted !== (accepted[member] ?? "") && taken.has(wanted)) refuse(reason, inUse(wanted));
    else if (wanted === "") delete names[member];
    else names[member] = wanted;
  };
  settle("plural", resources, "PluralConflict");
  settle("singular", resources, "SingularConflict");
  const own = new Set(accepted.shortNames);
  const shortNames = requested.shortNames ?? [];
  const taken = shortNames.filter((name) => !own.has(name) && resources.has(name)).map(inUse);
  if (taken.length > 0) refuse("ShortNamesConflict", joinErrors(taken));
  else setList(names, "shortNames", shortNames);
  settle("kind", kinds, "KindConflict");
  settle("listKind", kinds, "ListKindConflict");
  setList(names, "categories", requested.categories ?? []);
  names.plural ??= "";
  names.kind ??= "";
  return { names, conflict };
}

function setList(names: DefinitionNames, member: "shortNames" | "categories", wanted: readonly string[]): void {
  if (wanted.length === 0) delete names[member];
  else names[member] = [...wanted];
}

const inUse = (name: string): string => `${quote(name)} is already in use`;

/** Compat: formats errors like `utilerrors.NewAggregate`: each distinct message once, several in brackets. */
function joinErrors(errors: readonly string[]): string {
  const texts = [...new Set(errors)];
  return texts.length === 1 ? (texts[0] ?? "") : `[${texts.join(", ")}]`;
}

function establishedBy(definition: CustomResourceDefinition, areAccepted: boolean): NewCondition {
  const old = conditionOf(definition, ESTABLISHED);
  if (old?.status !== "True" && areAccepted) {
    const message = "the initial names have been accepted";
    return { type: ESTABLISHED, status: "False", reason: "Installing", message };
  }
  const { status = "False", reason = "NotAccepted", message = "not all names are accepted" } = old ?? {};
  return { type: ESTABLISHED, status, reason, message };
}
