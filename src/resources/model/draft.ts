import type { FieldError } from "../../base/api/field-error.ts";
import type { KubeObject } from "../../base/api/object.ts";
import { cloneJson } from "../../base/util/clone.ts";
import type { CreatorFields } from "../../data/patch/apply/created-fields.ts";
import type { EmptyValue } from "../../data/schema/decode-state.ts";

/** Initial properties of a draft. */
interface DraftFacts {
  readonly holdsEmpties?: boolean;
  readonly empties?: readonly EmptyValue[];
  readonly creatorFields?: CreatorFields;
}

const NO_EMPTIES: readonly EmptyValue[] = [];

/**
 * An object on its way into the store, with information about this write that is not part of the object. Verbs create
 * it from a decoded body. `Collection` passes it through conversion, reservation, preparation, validation and admission
 * to the codec. Hooks access it as `WriteContext.draft`. Each attempt at a write has its own draft.
 */
export class Draft {
  /** First in the client's version, later in the stored one. The write owns it. */
  readonly object: KubeObject;
  /**
   * Whether `object` may contain empty lists and maps. Compat: kube-apiserver distinguishes empty from absent (`[]` and
   * nil) until the object is stored, and so do defaults, conversions and managedFields.
   */
  readonly holdsEmpties: boolean;
  /** The client's empty lists and maps that `toStoredForm` removed from `object`, by path in the stored version. */
  readonly empties: readonly EmptyValue[];
  /** The fieldsV1 of a new object's only manager and its JSON, so it is not printed again for each object. */
  creatorFields: CreatorFields | undefined;
  /** Texts for Warning headers from `prepare`. They precede those of `warn`. */
  readonly warnings: string[] = [];
  /** Errors of `reserve` that `validate` reports in order with its own. */
  readonly errors: FieldError[] = [];

  constructor(object: KubeObject, { holdsEmpties = false, empties = NO_EMPTIES, creatorFields }: DraftFacts = {}) {
    this.object = object;
    this.holdsEmpties = holdsEmpties;
    this.empties = empties;
    this.creatorFields = creatorFields;
  }

  /** A copy for another attempt, which may change its object. Only for a draft that no hook has received yet. */
  copy(): Draft {
    return new Draft(cloneJson(this.object), this);
  }
}
