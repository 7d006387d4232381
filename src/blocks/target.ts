/**
 * Whether a link may lead there: to a web page, an address or a number, or to where a merge tag says. Text after a tag
 * must not become the beginning of a link for recipients whose tag is empty.
 */
export const isLinkTarget = (url: string): boolean =>
  /^(?:(?:https?:\/\/|mailto:|tel:)\S|\{\{[^{}]*\}\}(?:[/?#&]|$))/i.test(url)
