// mta.md §4.1: no control character reaches a header.
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g

/** What was rendered or merged, as a header may have it: one line. */
export const subjectLine = (text: string) => text.replace(controls, ' ').trim()
