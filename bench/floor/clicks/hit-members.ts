// How hits come to the bare recorder's second thread.

/** A hit's members in turn: link, at, userAgent, language, referrer, address. */
export const HIT_MEMBERS = 6;
