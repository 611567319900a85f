export type { Manifests, ObjectName } from "./programs/library/apply.ts";
export { ApplyError } from "./programs/library/object-requests.ts";
export type { Access } from "./programs/testing/access.ts";
export type { Span } from "./programs/testing/clock.ts";
export {
  ControlPlane,
  type PlaneClock,
  type PlaneCluster,
  PlaneSnapshot,
  startControlPlane,
} from "./programs/testing/control-plane.ts";
export type { EventFaultOptions, Fault, FaultOptions, Faults } from "./programs/testing/faults.ts";
export { forkPerTest, type PlaneOfTest, type TestHooks } from "./programs/testing/fork-per-test.ts";
export type { FieldChange, ObjectVersion } from "./programs/testing/history.ts";
export type { KubeConfig } from "./programs/testing/kube-config.ts";
export type { FaultLimits, RequestMatch } from "./programs/testing/match.ts";
export type { ControlPlaneOptions, SimulatedClusterOptions } from "./programs/testing/options.ts";
export type { RequestLog, RequestRecord } from "./programs/testing/request-log.ts";
export type { SettleOptions } from "./programs/testing/settle.ts";
export type { TestUser } from "./programs/testing/test-users.ts";
export type {
  CommandContext,
  ContainerContext,
  ContainerDefinition,
  ContainerExit,
  ContainerFunction,
  ContainerState,
  ContainerUsage,
} from "./serving/connect/handlers/container-functions.ts";
