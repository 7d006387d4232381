import type { Description } from './describe.js'

export const itself: Description = {
  tag: { name: 'About this API', description: 'The contract in a form for machines.' },
  schemas: {
    OpenApi: {
      type: 'object',
      description: 'See https://spec.openapis.org/oas/v3.1.0.html',
      properties: {
        openapi: { type: 'string', pattern: '^3\\.1\\.\\d+$' },
        info: { type: 'object' },
        paths: { type: 'object' },
      },
      required: ['openapi', 'info', 'paths'],
    },
  },
  operations: {
    'GET /v1/openapi.json': {
      id: 'getOpenApi',
      summary: 'This document',
      description: 'For anybody: no key is asked for and no request counted.',
      answers: [
        {
          status: 200,
          when: 'The document',
          shape: 'OpenApi',
          value: { openapi: '3.1.0', info: { title: 'Posthorn', version: '0.1.0' }, paths: {} },
        },
      ],
      refusals: [],
    },
  },
}
