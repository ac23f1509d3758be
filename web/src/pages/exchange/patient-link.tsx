/** The id of a patient; it leads to the patient's page where the person may open that. Contract: WEB-42. */
import { Link } from '@tanstack/react-router';
import { Identifier } from '../../blocks/values/identifier.tsx';
import { useSession } from '../../shell/session-context.tsx';
import css from './exchange.module.css';

export function PatientLink({ patientId }: { patientId: string }) {
  const { may } = useSession();
  if (!may('patients.patients.get') && !may('patients.access-log.read')) return <Identifier id={patientId} />;
  return (
    // Read only when it is opened: each read is in the access log of the patient.
    <Link to="/patients/$patientId" params={{ patientId }} preload={false} className={css.patient}>
      <Identifier id={patientId} />
    </Link>
  );
}
