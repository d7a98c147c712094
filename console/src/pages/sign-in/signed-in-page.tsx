/** Owns the address `/app/sign-in` for whoever is signed in: it leads on to the home page. */
import { Navigate } from '@tanstack/react-router';

export default function SignedInPage() {
  return <Navigate to="/app" search={{} as never} replace />;
}
