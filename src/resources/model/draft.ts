import type { FieldError } from "../../api/field-error.ts";
import type { KubeObject } from "../../api/object.ts";
import { cloneJson } from "../../lib/clone.ts";
import type { CreatorFields } from "../../patch/apply/created-fields.ts";
import type { EmptyValue } from "../../schema/decode-state.ts";

/** What a write knows about its object before hooks have seen it. */
interface DraftFacts {
  readonly holdsEmpties?: boolean;
  readonly empties?: readonly EmptyValue[];
  readonly creatorFields?: CreatorFields;
}

const NO_EMPTIES: readonly EmptyValue[] = [];

/**
 * An object on its way into the store, and what the server knows about this write that the object cannot say itself.
 * Verbs make it of a decoded body, `Collection` carries it through conversion, reservation, preparation, validation and
 * admission to the codec, and hooks find it as `WriteContext.draft`. Every attempt at a write has one of its own.
 */
export class Draft {
  /** In the version that the client spoke, later in the stored one. The write owns it. */
  readonly object: KubeObject;
  /**
   * Compat: to kube-apiserver an empty list or map is something else than none (`[]` and nil) until the object is stored.
   * Defaults, conversions and managedFields see the difference, so `object` may hold some as long as this is true.
   */
  readonly holdsEmpties: boolean;
  /** The empty lists and maps of the client that `toStoredForm` took out of `object`, by their paths in the stored version. */
  readonly empties: readonly EmptyValue[];
  /** The fieldsV1 of the only manager of a new object with its JSON, so that it is not printed for every object again. */
  creatorFields: CreatorFields | undefined;
  /** Texts for Warning headers that come up in `prepare`. They go to the client before those of `warn`. */
  readonly warnings: string[] = [];
  /** What `reserve` found wrong and `validate` tells in its place among other errors. */
  readonly errors: FieldError[] = [];

  constructor(object: KubeObject, { holdsEmpties = false, empties = NO_EMPTIES, creatorFields }: DraftFacts = {}) {
    this.object = object;
    this.holdsEmpties = holdsEmpties;
    this.empties = empties;
    this.creatorFields = creatorFields;
  }

  /** The same for another attempt, which may change its object. Only for a draft that no hook has seen yet. */
  copy(): Draft {
    return new Draft(cloneJson(this.object), this);
  }
}
