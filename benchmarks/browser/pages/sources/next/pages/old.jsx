import { useEffect } from "react";
import { useRouter } from "next/router";

export default function Old() {
  const router = useRouter();
  useEffect(() => { router.replace("/moved"); }, [router]);
  return null;
}
