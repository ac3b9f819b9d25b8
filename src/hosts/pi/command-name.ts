/** The command that a person types in pi. */
export const PI_COMMAND_NAME = "/loop";
