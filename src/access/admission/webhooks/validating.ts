import { matchedApiVersion } from "../expressions/request-variable.ts";
import type { Match } from "../matching/match-index.ts";
import type { AdmissionPlugin } from "../plugin.ts";
import { askAndJudge, type CallContext, requireTime } from "./ask-and-judge.ts";
import type { Question } from "./ask-webhook.ts";
import { VersionedRequest, type WebhookMatcher } from "./matcher.ts";
import type { PlacedWebhook } from "./webhook-source.ts";

const FAILED_OPEN = "failed-open.validating.webhook.admission.k8s.io/round_0_index_";

/**
 * ValidatingAdmissionWebhook: calls all matching webhooks concurrently and waits for all of them. The client receives
 * the first error.
 */
export function validatingWebhooks(matcher: WebhookMatcher, context: CallContext): AdmissionPlugin {
  const ask = async (question: Question, index: number): Promise<void> => {
    const { request, webhook } = question;
    const isDone = await askAndJudge(context, question, async () => true);
    if (isDone === undefined && !request.signal?.aborted) request.annotate?.(`${FAILED_OPEN}${index}`, webhook.name);
  };
  return {
    name: "ValidatingAdmissionWebhook",
    handles: (request) => matcher.candidates(request).length > 0,
    async validate(request) {
      const versions = new VersionedRequest(request, "validating");
      const questions: Question[] = [];
      for (const match of matcher.candidates(request)) {
        if (await matcher.isConcerned(match, versions)) questions.push(await questionOf(match, versions));
      }
      if (questions.length === 0) return;
      requireTime(request, context);
      const refusals: unknown[] = [];
      await Promise.all(questions.map((one, index) => ask(one, index).catch((error: unknown) => refusals.push(error))));
      if (refusals.length > 0) throw refusals[0];
    },
  };
}

async function questionOf({ item, matched }: Match<PlacedWebhook>, versions: VersionedRequest): Promise<Question> {
  const objects = await versions.in(matchedApiVersion(matched));
  const { request, notes } = versions;
  return { webhook: item.webhook, request, matched, objects, isMutating: false, notes };
}
