/** The form of a report by RFC 8460 §4.4 and the values of its §4.3, as JSON Schema. */
const text = { type: 'string', minLength: 1 }
const texts = { type: 'array', items: text, minItems: 1 }
const count = { type: 'integer', minimum: 0 }
const closed = (properties: Record<string, object>, required: string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
const instant = { type: 'string', format: 'date-time' }

export const reportSchema = closed(
  {
    'organization-name': text,
    'date-range': closed({ 'start-datetime': instant, 'end-datetime': instant }, [
      'start-datetime',
      'end-datetime',
    ]),
    'contact-info': { type: 'string', format: 'email' },
    'report-id': text,
    policies: {
      type: 'array',
      minItems: 1,
      items: closed(
        {
          policy: closed(
            {
              'policy-type': { enum: ['tlsa', 'sts', 'no-policy-found'] },
              'policy-string': texts,
              'policy-domain': text,
              'mx-host': texts,
            },
            ['policy-type', 'policy-domain'],
          ),
          summary: closed(
            {
              'total-successful-session-count': count,
              'total-failure-session-count': count,
            },
            ['total-successful-session-count', 'total-failure-session-count'],
          ),
          'failure-details': {
            type: 'array',
            items: closed(
              {
                'result-type': {
                  enum: [
                    'starttls-not-supported',
                    'certificate-host-mismatch',
                    'certificate-expired',
                    'certificate-not-trusted',
                    'validation-failure',
                    'tlsa-invalid',
                    'dnssec-invalid',
                    'dane-required',
                    'sts-policy-fetch-error',
                    'sts-policy-invalid',
                    'sts-webpki-invalid',
                  ],
                },
                'sending-mta-ip': { anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }] },
                'receiving-mx-hostname': { type: 'string', format: 'hostname' },
                'receiving-mx-helo': text,
                'receiving-ip': { anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }] },
                'failed-session-count': { type: 'integer', minimum: 1 },
                'additional-information': { type: 'string', format: 'uri' },
                'failure-reason-code': text,
              },
              ['result-type', 'failed-session-count'],
            ),
          },
        },
        ['policy', 'summary'],
      ),
    },
  },
  ['organization-name', 'date-range', 'contact-info', 'report-id', 'policies'],
)
