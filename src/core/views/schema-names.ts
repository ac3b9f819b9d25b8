/** The `$schema` names of published documents. The JSON Schemas are in `schemas/` of the package. */
export const TASKS_SCHEMA = "loopwright/schemas/tasks.json";
export const STATE_SCHEMA = "loopwright/schemas/state.json";
export const PROGRESS_SCHEMA = "loopwright/schemas/progress.json";
export const LIST_SCHEMA = "loopwright/schemas/list.json";
export const SNAPSHOT_SCHEMA = "loopwright/schemas/snapshot.json";
