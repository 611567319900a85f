import type { Call } from "../../base/api/call.ts";
import { parseWriteQuery } from "../../base/api/options.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import { dedupeOwnerReferences, settleNamespace } from "../../resources/write/metadata.ts";
import { admissionRequest } from "./admission-request.ts";
import { readObject } from "./body.ts";
import { managerOf, recordManager } from "./field-manager.ts";
import { judgeWrite } from "./judge-write.ts";
import { mutateDraft } from "./mutate-draft.ts";
import { checkName } from "./object-name.ts";
import type { Target, VerbContext } from "./target.ts";

/** Replaces an object, or the fields that a subresource covers. */
export async function update(context: VerbContext, call: Call, target: Target): Promise<ApiReply> {
  const { dryRun, fieldManager, fieldValidation } = parseWriteQuery("UpdateOptions", call.request.query);
  const sent = await readObject(context, call, target, fieldValidation);
  const { object } = sent;
  checkName(object.metadata, target.name);
  settleNamespace(target.resource.definition, object.metadata, target.namespace);
  const duplicates = dedupeOwnerReferences(object.metadata);
  if (duplicates !== undefined) call.warnings.push(duplicates);
  const { resource, namespace, name, subresource } = target;
  const { view, created } = await target.collection.update(
    resource,
    { namespace, name },
    async (current) => {
      const draft = sent.copy();
      await recordManager(context, target, { live: current, draft, manager: managerOf(call, fieldManager) });
      const operation = current ? "UPDATE" : "CREATE";
      const { object: next, holdsEmpties } = draft;
      const asked = { operation, dryRun, object: next, holdsEmpties, previous: current } as const;
      await mutateDraft(context, call, target, admissionRequest(call, target, asked));
      return draft;
    },
    {
      dryRun,
      subresource: subresource === "" ? undefined : subresource,
      uid: object.metadata.uid,
      user: call.user,
      warn: (text) => call.warnings.push(text),
      admit: (next, previous) => judgeWrite(context, call, target, { dryRun, object: next, previous }),
    },
  );
  return { type: "object", code: created ? 201 : 200, view, table: resource.version.table };
}
