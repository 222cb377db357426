import { sessions } from "./sessions";

export const { connection, rotatedAt } = sessions();
