import { logRefusal } from "../../../access/authentication/assemble.ts";
import { withExplainRight } from "../../../access/authorization/explain/explain-right.ts";
import type { Call, Handler, Stage } from "../../../base/api/call.ts";
import type { RequestInfo } from "../../../base/api/request-info.ts";
import { carefulLog } from "../../../base/log/careful-log.ts";
import { processorMs } from "../../../base/metrics/process-metrics.ts";
import { systemClock } from "../../../base/util/clock.ts";
import type { Answer } from "../../../serving/http/listener.ts";
import { type AnswerContext, answer } from "../../../serving/pipeline/answer.ts";
import { logUnexpected } from "../../../serving/pipeline/answer-errors.ts";
import { authenticate, keepUser, takeStatedUser } from "../../../serving/pipeline/authenticate.ts";
import { impersonate } from "../../../serving/pipeline/impersonate.ts";
import { assumeUser } from "../../../serving/pipeline/local-only.ts";
import { logRequests } from "../../../serving/pipeline/log-requests.ts";
import { loopbackClients } from "../../../serving/pipeline/loopback.ts";
import { measure } from "../../../serving/pipeline/measure.ts";
import { compose, type PipelineOptions, stagesFor } from "../../../serving/pipeline/pipeline.ts";
import { prepareAudit } from "../../../serving/pipeline/prepare-audit.ts";
import { StallWatchdog } from "../../../serving/pipeline/stall-watchdog.ts";
import type { AccessParts } from "./access.ts";
import type { AdmissionParts } from "./admission.ts";
import type { FairnessParts } from "./fairness.ts";
import type { RouteParts } from "./routes.ts";
import type { ServingParts } from "./serving-parts.ts";
import type { Setting } from "./setting.ts";
import type { StorageParts } from "./storage.ts";

/** Composes the stages of the pipeline around the handlers. */
export async function assembleServing(
  setting: Setting,
  storage: StorageParts,
  access: AccessParts,
  admission: AdmissionParts,
  routes: RouteParts,
  fairness: FairnessParts,
): Promise<ServingParts> {
  const { config, environment, given, opened, log, registries, late } = setting;
  const { clock, random } = environment;
  const { facts } = routes;
  const unexpected = logUnexpected(log);
  const reportError = (error: unknown, call?: Call): void => {
    if (call === undefined) log.error("sending a response or serving a stream failed", { err: error });
    else unexpected(error, call);
  };
  const context: AnswerContext = {
    now: () => clock.now(),
    random,
    report: reportError,
    schemaOf: storage.schemaOf,
    kindOf: facts.kindOf,
    isLarge: routes.large.isLarge,
  };
  const audit = await prepareAudit(config.audit, { ...environment, log }, registries["/metrics"]);
  opened.defer(() => audit.close());
  const options = pipelineOptions(setting, storage, access, admission, routes, {
    reportError,
    audit: audit.stages(facts, context),
  });
  const { findServed, isLongRunning } = facts;
  const registry = registries["/metrics"];
  const watchdog = new StallWatchdog({ clock, processorMs, log, registry, findServed, isLongRunning });
  opened.defer(() => watchdog.close());
  const outermost = given.stages ? [given.stages.outermost] : [];
  const logged = config.logRequests ? [logRequests({ clock, log: carefulLog(environment.log) })] : [];
  // Calls of this process need no seats: they would wait for each other.
  const limited = { ...options, fairness: fairness.stage?.(facts) };
  const staged = (identify: Stage, routed: Handler): Handler =>
    compose([watchdog.stage, ...logged, ...outermost, ...stagesFor(limited, identify)], routed);
  const pipeline = (identify: Stage): Answer => {
    const handler = staged(identify, routes.offloaded);
    return (request) => answer(context, handler, request);
  };
  const stated = takeStatedUser(access.authentication.proxyHeaders);
  const inProcess = compose([...outermost, ...stagesFor(options, keepUser)], routes.inline);
  late.inProcess.set(inProcess);
  // A controller's write of a large object takes as long as a client's.
  const loopback = compose([...outermost, ...stagesFor(options, keepUser)], routes.offloaded);
  late.clients.set(loopbackClients(loopback, random, routes.large.isLargeCall));
  return {
    secured: pipeline(identification(setting, access)),
    open: pipeline(assumeUser(storage.identity.admin.user)),
    inProcess,
    embedded: { answer: pipeline(stated), handler: staged(stated, routes.inline) },
    reportError,
    // A driven clock does not measure how long something took.
    start: () => void (clock === systemClock && watchdog.start()),
  };
}

/** The stage that finds out who calls. */
function identification({ environment, log }: Setting, { authentication, audiences, attempts }: AccessParts): Stage {
  const { authenticator, proxyHeaders } = authentication;
  return authenticate({
    authenticator,
    audiences,
    proxyHeaders,
    refused: (error) => logRefusal(log, error),
    observer: { clock: environment.clock, ...attempts },
  });
}

function pipelineOptions(
  { config, environment, given, registries }: Setting,
  { resources }: StorageParts,
  { judges, decisions }: AccessParts,
  { aggregator }: AdmissionParts,
  { facts }: RouteParts,
  own: Pick<PipelineOptions, "reportError" | "audit">,
): PipelineOptions {
  const { clock } = environment;
  const { authorizer } = judges;
  const { findServed, isLongRunning, hasTable, isUnstructured } = facts;
  return {
    ...own,
    impersonate: impersonate(authorizer, resources.features.enabled("ConstrainedImpersonation")),
    identified: given.stages?.identified,
    authorizer: withExplainRight(authorizer),
    authorized: decisions.authorized,
    measure: measure({ registry: registries["/metrics"], clock, findServed, isLongRunning }),
    requestTimeoutMs: config.requestTimeoutMs,
    clock,
    isLongRunning,
    hasTable,
    isUnstructured,
    isRemote: (info: RequestInfo) => facts.isPassedOn(info) || aggregator.passes(info.path),
  };
}
