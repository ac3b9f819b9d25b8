/** `loopwright/testing`: a store in memory and a clock that a test moves, for tests of programs that use the library. */
export { FakeClock, settled } from "./store/memory/fake-clock.ts";
export { MemoryJournal } from "./store/memory/memory-journal.ts";
export { MemoryStore, type MemoryStoreParts } from "./store/memory/memory-store.ts";
