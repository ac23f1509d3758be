/** Sends a test request to the exchange, and says what came back. Contract: WEB-49. */
import { Button, Group, Modal, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useTranslations } from 'use-intl';
import { answered, api } from '../../../api/api.ts';
import { ApiError } from '../../../api/api-error.ts';
import { useServiceWords } from '../../../app/service-words.ts';
import { SendButton } from '../../../blocks/page/send-button.tsx';
import { useErrorText } from '../../../blocks/states/error-text.ts';
import { CallFault } from '../../../blocks/states/fault.tsx';
import { Details } from '../../../blocks/values/details.tsx';
import { StatusBadge } from '../../../blocks/values/status-badge.tsx';
import type { Connection } from '../exchange-data.ts';

export function useConnectionTest({ id }: Connection) {
  return useMutation({
    mutationFn: () =>
      answered(
        api.POST('/exchange/connections/{connectionId}/test', { params: { path: { connectionId: id } } }),
      ),
  });
}

type Test = ReturnType<typeof useConnectionTest>;

/** Open from the moment that a test is sent. */
export function TestConnection({ name, test }: { name: string; test: Test }) {
  const t = useTranslations('exchangeConnections');
  const blocks = useTranslations('blocks');
  const errorText = useErrorText();
  const { data, error, isPending } = test;
  const faultOf = (fault: unknown) =>
    fault instanceof ApiError && fault.status === 429
      ? t('testTooSoon', { seconds: fault.retryAfterSeconds ?? 5 })
      : errorText(fault);
  return (
    <Modal opened={test.status !== 'idle'} onClose={test.reset} title={t('testTitle', { name })}>
      <Stack gap="md">
        <div>{t('testText')}</div>
        <div role="status">
          {isPending ? t('testSending') : undefined}
          {data === undefined ? undefined : <Result result={data} />}
        </div>
        <CallFault error={error} errorText={faultOf} />
        <Group justify="flex-end" gap="xs">
          <SendButton variant="default" isSending={isPending} onClick={() => test.mutate()}>
            {t('testAgain')}
          </SendButton>
          <Button onClick={test.reset}>{blocks('close')}</Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function Result({ result: answer }: { result: NonNullable<Test['data']> }) {
  const t = useTranslations('exchangeConnections');
  const wordsOf = useServiceWords('exchangeConnections.testResults');
  const { status, latencyMs, result, cause, message } = answer;
  const isTaken = status !== null && status >= 200 && status < 300;
  return (
    <Details
      items={[
        [
          t('testResult'),
          <StatusBadge
            key="result"
            tone={isTaken ? 'good' : 'bad'}
            label={isTaken ? t('testTaken') : t('testNotTaken')}
          />,
        ],
        [t('testAnswer'), status === null ? t('testNoAnswer') : `HTTP ${status}`],
        [t('testTime'), t('timeoutValue', { ms: latencyMs })],
        [t('testMessage'), wordsOf(result, message, { status: String(status), cause: cause ?? '' })],
      ]}
    />
  );
}
