/** Owns the address `/app/sign-in` for whoever is signed in: it leads on to the home page. */
import { useEffect } from 'react';
import { useNavigate } from '../../route/route.ts';

export default function SignedInPage() {
  const navigate = useNavigate();
  useEffect(() => navigate({ to: '/app', replace: true }), [navigate]);
  return null;
}
