export type { AdmissionCall, AdmissionModule } from "./access/admission/functions/module.ts";
export type { AccountTokenConfig } from "./access/authentication/service-accounts/options.ts";
export { ApiError } from "./base/api/api-error.ts";
export type { FeatureGateValues } from "./base/api/feature-gates.ts";
export { systemEnvironment } from "./base/log/system-environment.ts";
export type { Clock, Timer } from "./base/util/clock.ts";
export type { Environment, Log, LogFields } from "./base/util/environment.ts";
export type { Random } from "./base/util/random.ts";
export type { Manifests } from "./programs/library/apply.ts";
export type {
  ApplyInput,
  ApplyOptions,
  ClientOptions,
  DeleteOptions,
  Informer,
  InformerChange,
  KindClient,
  KindEvent,
  KindList,
  ListOptions,
  MergePatch,
  ObjectKey,
  PartOf,
  PatchOperation,
  SelectOptions,
  StatusClient,
  StatusIn,
  Stored,
  WatchOptions,
  WriteOptions,
} from "./programs/library/client/client-types.ts";
export type { InProcessAccess } from "./programs/library/client/in-process-access.ts";
export type {
  ReconcileContext,
  ReconcileFunction,
  ReconcileOptions,
  ReconcileResult,
  Reconciler,
  ReconcilerSettleOptions,
} from "./programs/library/client/reconcile-types.ts";
export type { User } from "./programs/library/client/user.ts";
export {
  type DefinedKind,
  defineKind,
  type KindOptions,
  type KindVersion,
  type Problem,
  type StatusOf,
} from "./programs/library/define-kind.ts";
export type {
  KindInput,
  KindObject,
  KindReference,
  MetaInput,
  NewMeta,
  StoredMeta,
  StoredObject,
  UntypedInput,
  UntypedObject,
} from "./programs/library/kind-types.ts";
export { ApplyError } from "./programs/library/object-requests.ts";
export { OptionsError, type ServerOptions } from "./programs/library/options.ts";
export type { InputOf, KindSchema, TypeOf } from "./programs/library/schema-types.ts";
export { type FetchOptions, type Server, startServer } from "./programs/library/start-server.ts";
export { type Config, defaultConfig } from "./programs/server/config.ts";
export type { CommandRequest } from "./serving/connect/handlers/command-request.ts";
export type {
  CommandContext,
  ContainerContext,
  ContainerDefinition,
  ContainerExit,
  ContainerFunction,
  ContainerImages,
  ContainerState,
  ContainerUsage,
} from "./serving/connect/handlers/container-functions.ts";
export type {
  Handlers,
  LocalService,
  LogRequest,
  PodHandlers,
} from "./serving/connect/handlers/handlers.ts";
export type { TerminalSize } from "./serving/connect/remote-command/session.ts";
export type { StoreChoice } from "./storage/options.ts";
