/**
 * Whether a link may lead there: to a web page, an address or a number, or where a merge tag says. What follows a tag
 * must not become the beginning of a link for whom the tag is empty.
 */
export const isLinkTarget = (url: string): boolean =>
  /^(?:(?:https?:\/\/|mailto:|tel:)\S|\{\{[^{}]*\}\}(?:[/?#&]|$))/i.test(url)
