export interface ListIdentity {
  /** The signed link (`UnsubscribeLinks.url`). */
  url: string
  /** The domain that the mail is from. */
  domain: string
  topicId?: string | undefined
}

/** The header fields of a marketing mail, for `MessageInput.extraHeaders`; DKIM has to cover them. */
export function unsubscribeHeaders({
  url,
  domain,
  topicId,
}: ListIdentity): { name: string; value: string }[] {
  // RFC 2919 §3: a name that stays the same, within a domain of the sender's.
  const listId = `${topicId === undefined ? '' : `${topicId}.`}marketing.${domain}`
  return [
    // RFC 8058 §3.1: with One-Click this is an HTTPS URL, so production needs http.public.url.
    { name: 'List-Unsubscribe', value: `<${url}>` },
    { name: 'List-Unsubscribe-Post', value: 'List-Unsubscribe=One-Click' },
    { name: 'List-Id', value: `<${listId}>` },
  ]
}
